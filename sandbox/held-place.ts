import { closeSync, constants, fstatSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { lstatSync, openSync, readlinkSync, realpathSync } from './host-paths.ts'
import type { Identity } from './helper/steps.ts'

/** O_PATH of open(2). Opening a file in this way requires no permissions for the file, and the descriptor gives no access to its contents. */
const pathOnly = 0o1000_0000 | constants.O_NOFOLLOW

/** An open entry, and the path at which it was opened. The path has no symlinks. */
export type Held = { readonly path: string; readonly descriptor: number; readonly identity: Identity }

/**
 * Opens a path component by component. Returns undefined if a component is a symlink, doesn't exist or can't be reached. Works only on Linux, because
 * elsewhere a descriptor has no path.
 */
export function openWithoutLinks(path: string): Held | undefined {
  if (process.platform !== 'linux') return undefined
  let descriptor = openSync('/', pathOnly)
  try {
    for (const name of path.split('/').filter((part) => part !== '')) {
      const next = openSync(`/proc/self/fd/${descriptor}/${name}`, pathOnly)
      closeSync(descriptor)
      descriptor = next
    }
    const stat = fstatSync(descriptor, { bigint: true })
    if (stat.isSymbolicLink()) throw new TypeError('a symlink')
    return { path, descriptor, identity: { device: stat.dev, inode: stat.ino } }
  } catch {
    // The path doesn't exist, can't be reached or contains a symlink, so there is no entry to hold.
    closeSync(descriptor)
    return undefined
  }
}

/** The current path of a held entry; undefined if the entry was removed. */
export function pathOf({ descriptor }: Held): string | undefined {
  if (fstatSync(descriptor).nlink === 0) return undefined
  return readlinkSync(`/proc/self/fd/${descriptor}`)
}

/** A path, and the entry that must be there. */
export type Place = {
  /** An absolute path without symlinks. */
  readonly path: string
  readonly identity: Identity
}

/**
 * An entry that, on Linux, is held open, for example the one that the user was asked about. It then stays the same entry even if it is renamed, and
 * no other entry can be mistaken for it.
 */
export type HeldPlace = Place & {
  /** Returns the path of an entry in the directory that is held open. On Linux, the path stays valid even if the directory is moved. */
  readonly inside: (name: string) => string
  readonly close: () => void
}

/**
 * Holds the entry at `path`, an absolute path without symlinks. Returns undefined if there is no entry, or if the path contains a symlink.
 *
 * @internal
 */
export function holdPlace(path: string): HeldPlace | undefined {
  if (process.platform === 'linux') {
    const held = openWithoutLinks(path)
    if (held === undefined) return undefined
    const { identity, descriptor } = held
    let open = true
    return {
      path,
      identity,
      inside: (name) => `/proc/self/fd/${descriptor}/${name}`,
      close: () => {
        if (open) closeSync(descriptor)
        open = false
      },
    }
  }
  const place = placeAt(path)
  return place && { ...place, inside: (name) => join(path, name), close: () => undefined }
}

/**
 * Whether the entry is still at its path, and the path contains no symlink.
 *
 * @internal
 */
export function isThere({ path, identity }: Place): boolean {
  const now = placeAt(path)?.identity
  return now !== undefined && isSame(now, identity)
}

/** Whether two identities are those of the same entry. */
export function isSame(one: Identity, other: Identity): boolean {
  return one.device === other.device && one.inode === other.inode
}

/** The entry at a path now; undefined if there is none, or the path contains a symlink. */
export function placeAt(path: string): Place | undefined {
  try {
    if (realpathSync(path) !== path) return undefined
    const { dev, ino } = lstatSync(path, { bigint: true })
    return { path, identity: { device: dev, inode: ino } }
  } catch {
    // The path no longer exists, or can't be reached.
    return undefined
  }
}
