import { lstatSync } from 'node:fs'

/** Properties of a directory that stay the same if it is renamed, and that differ for any later directory at the same path. */
export type Identity = {
  readonly rootInode: string
  /** The device number, which may change at a reboot; undefined if it is unknown. */
  readonly rootDevice?: string | undefined
  /** The directory's creation time, in nanoseconds; undefined if the file system doesn't record it. */
  readonly rootBirth?: string | undefined
}

/** Returns the identity of a directory; undefined if there is no directory at the path. @throws the system's error if the path can't be read */
export function identityOf(root: string): Identity | undefined {
  const stats = lstatSync(root, { bigint: true, throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) return undefined
  const { ino, dev, birthtimeNs } = stats
  return {
    rootInode: `${ino}`,
    rootDevice: `${dev}`,
    // File systems without creation times report zero.
    ...(birthtimeNs > 0n ? { rootBirth: `${birthtimeNs}` } : {}),
  }
}

/**
 * Whether two identities belong to the same directory. A new directory often gets the inode number of a removed one, so the creation times must match
 * too. If one of them is unknown, the devices must match instead, as far as they are known.
 */
export function isSameDirectory(one: Identity, other: Identity): boolean {
  if (one.rootInode !== other.rootInode) return false
  if (one.rootBirth !== undefined && other.rootBirth !== undefined) return one.rootBirth === other.rootBirth
  return one.rootDevice === undefined || other.rootDevice === undefined || one.rootDevice === other.rootDevice
}

/** Whether two identities certainly belong to the same directory, which may have been moved in the meantime. */
export function isSurelySame(one: Identity, other: Identity): boolean {
  return one.rootBirth !== undefined && other.rootBirth !== undefined && isSameDirectory(one, other)
}
