import { lstatSync } from 'node:fs'

/** Properties of a directory that survive a rename, and that no later directory at its path shares. */
export type Identity = {
  readonly rootInode: string
  /** Absent: unknown. Device numbers may change at a reboot. */
  readonly rootDevice?: string | undefined
  /** Its creation time, in nanoseconds. Absent if the system can't tell. */
  readonly rootBirth?: string | undefined
}

/** The identity of a directory. @returns undefined if it doesn't exist; throws the system's error if it can't be read */
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
 * Whether two are the same directory. The next new directory usually reuses a free inode number, so the creation time must match too, or if that is
 * unknown, at least the device.
 */
export function isSameDirectory(one: Identity, other: Identity): boolean {
  if (one.rootInode !== other.rootInode) return false
  if (one.rootBirth !== undefined && other.rootBirth !== undefined) return one.rootBirth === other.rootBirth
  return one.rootDevice === undefined || other.rootDevice === undefined || one.rootDevice === other.rootDevice
}

/** Whether they are certainly the same directory, wherever they are. */
export function isSurelySame(one: Identity, other: Identity): boolean {
  return one.rootBirth !== undefined && other.rootBirth !== undefined && isSameDirectory(one, other)
}
