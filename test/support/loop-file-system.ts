import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new file system in a file. `close` removes it. */
type LoopFileSystem = { readonly directory: string; readonly close: () => void }

/**
 * Creates an XFS file system, which shares blocks between files, and mounts it. Only root can do that.
 *
 * @param megabytes the size, at least 300
 * @returns the file system, or a message that says why it can't be created here
 */
export function mountXfs(megabytes: number): LoopFileSystem | string {
  return mountImage('xfs', megabytes, 'mkfs.xfs -q -m reflink=1 image')
}

/** Creates an ext2 file system whose time stamps are whole seconds, and mounts it. @returns like `mountXfs` */
export function mountWithoutFractions(): LoopFileSystem | string {
  return mountImage('ext2', 8, 'mkfs.ext2 -q -I 128 image')
}

function mountImage(kind: string, megabytes: number, format: string): LoopFileSystem | string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), `portcullis-${kind}-`)))
  const directory = join(place, 'mounted')
  mkdirSync(directory)
  const script = `truncate -s ${megabytes}M image && ${format} && mount -o loop image mounted`
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: place, encoding: 'utf8' })
  const close = (): void => {
    spawnSync('umount', ['-l', directory])
    rmSync(place, { recursive: true, force: true })
  }
  if (status === 0) return { directory, close }
  close()
  return `no ${kind} can be mounted here: ${stderr.trim().split('\n').at(-1)}`
}
