import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'

/**
 * The image for tests. It contains no programs: its `/usr` is empty, and `/bin`, `/sbin`, `/lib` and `/lib64` are links into it. A policy must
 * therefore grant this machine's `/usr`, and commands use this machine's tools.
 */
export const image = 'portcullis-test-links:latest'

/** The directories that a policy has to make readable for commands to work in the image. */
export const imageRoots: readonly string[] = ['/usr', dirname(process.execPath)]

/** Creates the image if it doesn't exist yet. */
export function ensureImage(): void {
  if (spawnSync('docker', ['image', 'inspect', image]).status === 0) return
  const tree = mkdtempSync(join(tmpdir(), 'sandbox-image-'))
  try {
    for (const name of ['usr', 'etc', 'tmp', 'proc', 'dev', 'sys', 'var/tmp', 'mnt'])
      mkdirSync(join(tree, name), { recursive: true })
    for (const name of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, join(tree, name))
    const made = spawnSync('sh', ['-c', `tar -C '${tree}' -c . | docker import - ${image}`], { encoding: 'utf8' })
    if (made.status !== 0) throw new Error(made.stderr)
  } finally {
    rmSync(tree, { recursive: true, force: true })
  }
}
