import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'

/**
 * Creates a folder that is removed at the end of the test, and returns its real path. It is outside all git repositories: the folder for temporary
 * files may itself be in one, or hold somebody's `.git`.
 *
 * @param files files to create in the folder: their texts, by path
 */
export function tempDir(files: Readonly<Record<string, string>> = {}): string {
  const places = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm', homedir()]
  const place = places.find((each) => existsSync(each) && !isInRepository(realpathSync(each)))
  if (place === undefined) throw new Error(`tests need a folder outside git repositories; tried ${places.join(', ')}`)
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

function isInRepository(directory: string): boolean {
  if (existsSync(join(directory, '.git'))) return true
  return directory !== dirname(directory) && isInRepository(dirname(directory))
}
