import { lstatSync } from 'node:fs'

/** What a directory keeps when it is renamed, and no later one at its path has. */
export type Identity = {
  readonly rootInode: string
  /** Absent: not known. Numbers of devices change when the machine starts anew. */
  readonly rootDevice?: string | undefined
  /** When it was made, in nanoseconds. Absent where the system can't tell. */
  readonly rootBirth?: string | undefined
}

/** What a directory is known by. @returns undefined where there is none; throws what the system says when it may not be looked at */
export function identityOf(root: string): Identity | undefined {
  const stats = lstatSync(root, { bigint: true, throwIfNoEntry: false })
  if (stats?.isDirectory() !== true) return undefined
  const { ino, dev, birthtimeNs } = stats
  return {
    rootInode: `${ino}`,
    rootDevice: `${dev}`,
    // Zero is what is told of a file system that doesn't keep it.
    ...(birthtimeNs > 0n ? { rootBirth: `${birthtimeNs}` } : {}),
  }
}

/**
 * Whether two are the same directory. An inode's number is given again to the next directory, mostly at once, so that one made anew
 * has it too: the time of its birth tells, and where that isn't known, the device at least.
 */
export function isSameDirectory(one: Identity, other: Identity): boolean {
  if (one.rootInode !== other.rootInode) return false
  if (one.rootBirth !== undefined && other.rootBirth !== undefined) return one.rootBirth === other.rootBirth
  return one.rootDevice === undefined || other.rootDevice === undefined || one.rootDevice === other.rootDevice
}

/** Whether that is beyond doubt, wherever they are. */
export function isSurelySame(one: Identity, other: Identity): boolean {
  return one.rootBirth !== undefined && other.rootBirth !== undefined && isSameDirectory(one, other)
}
