import { closeSync, constants, lstatSync, openSync, readlinkSync } from 'node:fs'
import process from 'node:process'
import { namesHeld } from '../directory-names.ts'
import { readRegular } from '../host-files.ts'
import { decodeName, decodeText, encodePath } from '../path-bytes.ts'

/** O_PATH of open(2), for which Node has no constant. */
const pathOnly = process.platform === 'linux' ? 0o1000_0000 : 0
const asDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Metadata of a directory entry. `stamp` is a text that changes whenever the entry changes. */
type HeldEntry = {
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly size: number
  readonly executable: boolean
  readonly modifiedMs: number
  readonly stamp: string
}

/**
 * A directory that is held open, so that it stays the same directory whatever happens to its path. Entries below it are opened component by
 * component, without following symlinks. Reads never block, and their size is limited, because commands may have created the directory and may still
 * be changing it. Names and paths are in the form that `decodeText` returns.
 */
export type HeldDirectory = {
  readonly descriptor: number
  /**
   * The path of an entry in the form that system calls need. It begins with the path of this directory's descriptor. It may lead through symlinks, so
   * it is only for callers that trust what is inside the directory.
   */
  at(path: string): string | Buffer
  /** The content of a regular file; undefined if the entry is anything else, or has more than `most` bytes. */
  read(path: string, most: number): Buffer | undefined
  /** Like `read`, but returns the content as text, in the form that `decodeText` returns. */
  text(path: string, most: number): string | undefined
  /** The metadata of an entry; undefined if the entry doesn't exist, or if a part of the path is not a directory. */
  stat(path: string): HeldEntry | undefined
  /** The names in a directory; undefined if there is no such directory. */
  names(path: string): readonly string[] | undefined
  /**
   * The entries of a directory, by name; undefined if there is no such directory. This is much faster than calling `names` and then `stat` for each
   * name.
   */
  entries(path: string, isWanted?: (name: string) => boolean): ReadonlyMap<string, HeldEntry> | undefined
  /** The target of a symlink; undefined for anything else. */
  link(path: string): string | undefined
  /** A subdirectory, held open by a descriptor of its own; undefined if it doesn't exist. */
  hold(path: string): HeldDirectory | undefined
  close(): void
}

/** Opens a directory. Throws the errors of open(2), and also fails if the path names a symlink. */
export function holdDirectory(path: string | Buffer): HeldDirectory {
  const descriptor = openSync(path, constants.O_DIRECTORY | constants.O_NOFOLLOW | pathOnly)
  const base = `/proc/self/fd/${descriptor}`
  /**
   * Calls a function with the path of an entry. The path starts at the directory that contains the entry. This directory was reached without symlinks
   * and is held open during the call. Returns undefined if the entry doesn't exist or can't be reached.
   */
  const within = <T>(path: string, act: (entry: Buffer | string) => T): T | undefined => {
    if (!path.includes('/')) return directly(path, act)
    const parts = path.split('/').filter((part) => part !== '')
    const name = parts.pop() ?? '.'
    let [holder, opened] = [base, -1]
    try {
      for (const part of parts) {
        const next = openSync(encodePath(`${holder}/${part}`), asDirectory | pathOnly)
        if (opened !== -1) closeSync(opened)
        opened = next
        holder = `/proc/self/fd/${opened}`
      }
      return act(encodePath(`${holder}/${name}`))
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    } finally {
      if (opened !== -1) closeSync(opened)
    }
  }
  /** Does the same as `within` for an entry that is directly in the directory, which is the usual case. */
  const directly = <T>(name: string, act: (entry: Buffer | string) => T): T | undefined => {
    try {
      return act(encodePath(`${base}/${name === '' ? '.' : name}`))
    } catch (error) {
      if (isAbsent(error)) return undefined
      throw error
    }
  }
  return {
    descriptor,
    at: (path) => encodePath(`${base}/${path}`),
    read: (path, most) => within(path, (entry) => readEntry(entry, most)),
    text: (path, most) =>
      within(path, (entry) => {
        const content = readEntry(entry, most)
        return content && decodeText(content)
      }),
    stat: (path) => within(path, (entry) => describe(entry)),
    names: (path) =>
      within(path, (entry) => {
        if (isMissing(entry)) return undefined
        const held = openSync(entry, asDirectory)
        try {
          return namesHeld(held)
        } finally {
          closeSync(held)
        }
      }),
    entries: (path, isWanted) => within(path, (entry) => describeAll(entry, isWanted)),
    link: (path) => within(path, (entry) => decodeName(readlinkSync(entry, { encoding: 'latin1' }))),
    hold: (path) => within(path, (entry) => holdDirectory(entry)),
    close: () => closeSync(descriptor),
  }
}

function describe(entry: string | Buffer): HeldEntry | undefined {
  // Most of these entries don't exist, and creating an error takes longer than checking first.
  const stat = lstatSync(entry, { throwIfNoEntry: false })
  if (stat === undefined) return undefined
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
  const executable = (stat.mode & 0o100) !== 0
  const { ino, size, mtimeMs, ctimeMs } = stat
  return { kind, size, executable, modifiedMs: mtimeMs, stamp: `${ino}:${size}:${mtimeMs}:${ctimeMs}` }
}

function describeAll(
  directory: string | Buffer,
  isWanted: (name: string) => boolean = () => true,
): ReadonlyMap<string, HeldEntry> {
  const held = openSync(directory, asDirectory)
  const base = `/proc/self/fd/${held}`
  const entries = new Map<string, HeldEntry>()
  try {
    for (const name of namesHeld(held)) {
      if (!isWanted(name)) continue
      try {
        const entry = describe(encodePath(`${base}/${name}`))
        if (entry !== undefined) entries.set(name, entry)
      } catch (error) {
        // The entry has been removed since the names were read.
        if (!isAbsent(error)) throw error
      }
    }
    return entries
  } finally {
    closeSync(held)
  }
}

function readEntry(entry: string | Buffer, most: number): Buffer | undefined {
  if (isMissing(entry)) return undefined
  const file = openSync(entry, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    return readRegular(file, most)
  } finally {
    closeSync(file)
  }
}

/** Whether an entry doesn't exist. Callers check this first, because many entries are missing, and creating an error takes longer than the check. */
function isMissing(entry: string | Buffer): boolean {
  return lstatSync(entry, { throwIfNoEntry: false }) === undefined
}

function isAbsent(error: unknown): boolean {
  const codes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENXIO', 'EINVAL', 'ENAMETOOLONG', 'EPERM']
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
