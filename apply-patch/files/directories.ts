import { closeSync, constants, fstatSync, fsyncSync, lstatSync, openSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { errnoOf } from './commit-error.ts'
import type { Times } from './commit-steps.ts'
import { isInside } from './resolve-path.ts'

/**
 * Directories that stay open while a commit works in them.
 *
 * On Linux, each directory is opened once, component by component from the base without following links, and its entries are then reached through its
 * descriptor (`/proc/self/fd/N/name`, because Node has no `openat`). If a directory has been replaced with a link before it is opened, opening it fails. If it
 * is replaced later, the link isn't followed.
 *
 * On other systems (macOS, or without `/proc`), Node can't reach entries through a descriptor. There, every use of a directory first checks that the path still
 * leads to the same device and inode, which leaves a race window of one system call.
 */
export type Directories = {
  /**
   * A path for the entry `name` of a directory, valid for one system call.
   *
   * @throws the system's error; ENOTDIR or ELOOP if a component is a symlink or a file, ESTALE if the directory was replaced,
   *   EXDEV if it is not below the base
   */
  readonly entry: (directory: string, name: string) => string
  /**
   * The group of a directory, whether new files in it inherit that group (because of its set-group-id bit, or on macOS), and whether only the owner of an entry
   * may rename or remove it.
   */
  readonly owner: (directory: string) => DirectoryOwner
  /** The times of a directory when it was first opened. */
  readonly times: (directory: string) => Pick<Times, 'accessed' | 'modified'>
  /** Writes a directory's entries to the disk. */
  readonly sync: (directory: string) => void
  /** Closes a directory that is about to be removed, if it is open. */
  readonly forget: (directory: string) => void
  readonly close: () => void
}

type DirectoryOwner = {
  readonly gid: number
  readonly inherits: boolean
  /** Whether the directory is sticky and belongs to another user, so that only the owner of an entry may rename or remove it. */
  readonly guards: boolean
}

/** Linux's O_PATH: a handle on a directory that needs only search permission. Node has no constant for it. */
const pathOnly = 0o10000000

const openFlags = constants.O_DIRECTORY | constants.O_NOFOLLOW

/** How many directories are kept open at once. A directory that was closed is reopened when it is needed, and must still be the same directory. */
const heldAtOnce = 200

/**
 * If at most this many directories must be opened to reach a file, all of them are kept open for the next file, otherwise only the last. So a long
 * path doesn't force too many other directories to be closed.
 */
const keptOnTheWay = 40

type Held = DirectoryOwner & {
  readonly descriptor: number
  readonly device: bigint
  readonly inode: bigint
  readonly times: Pick<Times, 'accessed' | 'modified'>
}
type Identity = Pick<Held, 'device' | 'inode'>

/** Opens the directories of a tree on demand. @param base an absolute real path; no directory above it is opened */
export function openDirectories(base: string): Directories {
  // The directories are in the order of their last use, so that the one that was unused for the longest time is closed first.
  const held = new Map<string, Held>()
  const seen = new Map<string, Identity & Pick<Held, 'times'>>()
  const root = openOne(base, constants.O_RDONLY | constants.O_DIRECTORY)
  const throughDescriptors = descriptorsLead(root)

  const find = (directory: string): Held | undefined => {
    if (directory === base) return root
    const found = held.get(directory)
    if (found === undefined) return undefined
    held.delete(directory)
    held.set(directory, found)
    return found
  }
  const release = (directory: string): void => {
    const old = held.get(directory)
    held.delete(directory)
    if (old !== undefined) closeSync(old.descriptor)
  }
  const keep = (directory: string, opened: Held): void => {
    const oldest = held.size < heldAtOnce ? undefined : held.keys().next().value
    if (oldest !== undefined) release(oldest)
    held.set(directory, opened)
  }
  const openIn = (parent: Held, directory: string): Held => {
    const opened = throughDescriptors
      ? openOne(through(parent.descriptor, basename(directory)), pathOnly | openFlags)
      : openOne(directory, constants.O_RDONLY | openFlags)
    const before = seen.get(directory)
    if (before !== undefined && !isSame(before, opened)) {
      closeSync(opened.descriptor)
      throw systemError('ESTALE', 'open', directory)
    }
    if (before === undefined) {
      const { device, inode, times } = opened
      seen.set(directory, { device, inode, times })
    }
    return opened
  }
  const hold = (directory: string): Held => {
    const already = find(directory)
    if (already !== undefined) return already
    if (!isInside(directory, base)) throw systemError('EXDEV', 'open', directory)
    const way = [directory]
    let at = dirname(directory)
    let parent = find(at)
    while (parent === undefined) {
      way.push(at)
      at = dirname(at)
      parent = find(at)
    }
    const kept = way.length <= keptOnTheWay
    let passing: Held | undefined
    for (const next of way.reverse()) {
      try {
        const opened = openIn(parent, next)
        if (kept || next === directory) keep(next, opened)
        else passing = replace(passing, opened)
        parent = opened
      } catch (error) {
        replace(passing, undefined)
        throw error
      }
    }
    replace(passing, undefined)
    return parent
  }
  return {
    entry: (directory, name) => {
      const { descriptor, device, inode } = hold(directory)
      if (throughDescriptors) return through(descriptor, name)
      const now = lstatSync(directory, { bigint: true })
      if (now.dev !== device || now.ino !== inode) throw systemError('ESTALE', 'open', directory)
      return directory === '/' ? `/${name}` : `${directory}/${name}`
    },
    owner: (directory) => {
      const { gid, inherits, guards } = hold(directory)
      return { gid, inherits, guards }
    },
    times: (directory) => (seen.get(directory) ?? hold(directory)).times,
    sync: (directory) => {
      const { descriptor } = hold(directory)
      // The held descriptor has no read access and therefore can't be synced, so the directory is opened once more, for reading.
      const full = openSync(throughDescriptors ? through(descriptor, '.') : directory, constants.O_RDONLY)
      try {
        fsyncSync(full)
      } finally {
        closeSync(full)
      }
    },
    forget: (directory) => {
      release(directory)
      seen.delete(directory)
    },
    close: () => {
      for (const directory of [...held.keys()]) release(directory)
      closeSync(root.descriptor)
    },
  }
}

function through(descriptor: number, name: string): string {
  return `/proc/self/fd/${descriptor}/${name}`
}

/** Closes a directory that was opened only to reach the next one, and returns the next one. */
function replace(passed: Held | undefined, next: Held | undefined): Held | undefined {
  if (passed !== undefined) closeSync(passed.descriptor)
  return next
}

function openOne(path: string, flags: number): Held {
  const descriptor = openSync(path, flags)
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    const inherits = process.platform === 'darwin' || (stats.mode & 0o2000n) !== 0n
    const guards = (stats.mode & 0o1000n) !== 0n && Number(stats.uid) !== process.geteuid?.()
    const times = { accessed: `${stats.atimeNs}`, modified: `${stats.mtimeNs}` }
    return { descriptor, device: stats.dev, inode: stats.ino, gid: Number(stats.gid), inherits, guards, times }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function descriptorsLead(root: Held): boolean {
  if (process.platform !== 'linux') return false
  try {
    const stats = statSync(through(root.descriptor, '.'), { bigint: true })
    return isSame(root, { device: stats.dev, inode: stats.ino })
  } catch (error) {
    // Without `/proc`, as in some containers, each directory is checked before it is used.
    if (errnoOf(error) !== undefined) return false
    throw error
  }
}

function isSame(one: Identity, other: Identity): boolean {
  return one.device === other.device && one.inode === other.inode
}

/** Creates an error in the form of a system error: the one that the kernel would report if Node offered a suitable system call. */
function systemError(code: 'ESTALE' | 'EXDEV', syscall: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${syscall} '${path}'`), { code, syscall, path })
}
