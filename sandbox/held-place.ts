import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import type { Identity } from './mounting/step-layout.ts'

/** O_PATH of open(2): no right to the file is needed, and none is got. */
const pathOnly = 0o1000_0000 | constants.O_NOFOLLOW

/** What lay at a path without symlinks when it was opened. */
export type Held = { readonly path: string; readonly descriptor: number; readonly identity: Identity }

/** Opens a path component by component; undefined where a symlink or nothing is there by now. Linux only: elsewhere a descriptor has no path. */
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
    // Not to be reached so: nothing to hold, and later nothing to find.
    closeSync(descriptor)
    return undefined
  }
}

/** Where a held place is now; undefined for one that was removed. */
export function pathOf({ descriptor }: Held): string | undefined {
  if (fstatSync(descriptor).nlink === 0) return undefined
  return readlinkSync(`/proc/self/fd/${descriptor}`)
}

/** A path, and what has to lie there. */
export type Place = {
  /** Absolute, without symlinks. */
  readonly path: string
  readonly identity: Identity
}

/** What somebody was asked about, whatever is renamed afterwards. While it is held, nothing else can be taken for it. */
export type HeldPlace = Place & {
  /** A path to an entry of this directory, wherever the directory is by now. */
  readonly inside: (name: string) => string
  readonly close: () => void
}

/**
 * Holds what is at `path`, an absolute one that leads through no symlink; undefined where nothing is, or a symlink is on the way.
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
 * Whether what was held is still what lies at its path, reached through no symlink.
 *
 * @internal
 */
export function isThere({ path, identity }: Place): boolean {
  const now = placeAt(path)?.identity
  return now?.device === identity.device && now.inode === identity.inode
}

/** What lies at a path now; undefined where nothing does, or a symlink is on the way. */
export function placeAt(path: string): Place | undefined {
  try {
    if (realpathSync.native(path) !== path) return undefined
    const { dev, ino } = lstatSync(path, { bigint: true })
    return { path, identity: { device: dev, inode: ino } }
  } catch {
    // Gone, or no longer to be reached.
    return undefined
  }
}
