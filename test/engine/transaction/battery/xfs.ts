import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new file system that shares blocks between files. `close` removes it. */
type Xfs = { readonly directory: string; readonly close: () => void }

/**
 * Creates an XFS file system in a file and mounts it, which only root can do.
 *
 * @param megabytes the size, at least 300
 * @returns the file system, or a text that says why it can't be created here
 */
export function mountXfs(megabytes: number): Xfs | string {
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'portcullis-xfs-')))
  const directory = join(place, 'mounted')
  mkdirSync(directory)
  const script = `truncate -s ${megabytes}M image && mkfs.xfs -q -m reflink=1 image && mount -o loop image mounted`
  const { status, stderr } = spawnSync('sh', ['-c', script], { cwd: place, encoding: 'utf8' })
  const close = (): void => {
    spawnSync('umount', ['-l', directory])
    rmSync(place, { recursive: true, force: true })
  }
  if (status === 0) return { directory, close }
  close()
  return `no xfs can be mounted here: ${stderr.trim().split('\n').at(-1)}`
}
