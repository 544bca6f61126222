import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * Creates a folder that is removed at the end of the test, and returns its real path.
 *
 * @param files files to create in the folder: their texts, by path
 */
export function tempDir(files: Readonly<Record<string, string>> = {}): string {
  return folderIn(tmpdir(), files)
}

/**
 * Creates such a folder outside all git repositories, for a test of what happens there. The folder for temporary files may itself be in a repository.
 *
 * @param files files to create in the folder: their texts, by path
 */
export function tempDirOutsideGit(files: Readonly<Record<string, string>> = {}): string {
  const places = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm', homedir()]
  const place = places.find((each) => existsSync(each) && !isInRepository(realpathSync(each)))
  if (place === undefined)
    throw new Error(`this test needs a folder outside git repositories; tried ${places.join(', ')}`)
  return folderIn(place, files)
}

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true
  return directory !== dirname(directory) && isInRepository(dirname(directory))
}

function folderIn(place: string, files: Readonly<Record<string, string>>): string {
  const directory = realpathSync(mkdtempSync(join(place, 'portcullis-test-')))
  onTestFinished(() => {
    const remove = (): void => rmSync(directory, { recursive: true, force: true })
    try {
      remove()
    } catch {
      // Only root can remove directories whose rights a test has taken away.
      spawnSync('chmod', ['-R', 'u+rwX', directory], { stdio: 'ignore' })
      remove()
    }
  })
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, path)), { recursive: true })
    writeFileSync(join(directory, path), text)
  }
  return directory
}
