import { closeSync, constants, fstatSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import process from 'node:process'
import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readEntriesSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from './host-paths.ts'
import { closedState } from './closed-state.ts'
import { makeDirectories } from './make-directories.ts'
import { hasRawBytes } from './path-bytes.ts'

/** A directory outside all writable roots, for files that a command planted and that no program on the host should find. */
type Quarantine = {
  /**
   * Moves the entry at `path`, which must be below `root`, into quarantine. Returns the new path; undefined if the entry no longer exists, or if a
   * directory before it has become a symlink.
   */
  take(root: string, path: string): string | undefined
}

/** Thrown if a file should be quarantined, but there is no usable quarantine to move it to. */
export class NoQuarantine extends Error {}

/**
 * O_PATH of open(2). A descriptor opened with this flag is enough to open entries below a directory, and it is the only way to open a directory
 * without permission to read it.
 */
const pathOnly = process.platform === 'linux' ? 0o1000_0000 : 0
export const openDirectory = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW | pathOnly

/**
 * Returns a quarantine. Its directory is created only when the first file is moved there.
 *
 * @param roots the directories that commands may write to; the quarantine is outside all of them
 */
export function createQuarantine(roots: readonly string[]): Quarantine {
  let place: string | undefined
  let count = 0
  return {
    take: (root, path) => {
      // The quarantine is opened here rather than in the callback of `inParent`, which takes some errors to mean that the planted file is gone. If
      // the quarantine can't be opened, the planted file is still there.
      place ??= openPlace(roots)
      const to = join(place, `${(count += 1)}-${hasRawBytes(path) ? 'entry' : basename(path)}`)
      const taken = inParent(root, path, (entry, directory) => {
        move(entry, to, directory)
        return to
      })
      if (taken === undefined) return undefined
      writeFileSync(join(place, 'index.jsonl'), `${JSON.stringify({ from: path, to })}\n`, { flag: 'a', mode: 0o600 })
      return to
    },
  }
}

/** Recreates the symlink to `target` that was at `path`, below `root`. */
export function putSymlink(root: string, path: string, target: string): void {
  inParent(root, path, (entry) => symlinkSync(target, entry))
}

/**
 * Calls `act` for the last component of `path`. The directories before it are opened one after the other, so that no running command can lead us out
 * of `root` by replacing a directory with a symlink. Returns undefined if a directory no longer exists or is a symlink, or if `act` fails because the
 * entry doesn't exist (or, when `act` creates it, already exists).
 */
function inParent<T>(root: string, path: string, act: (entry: string, directory: string) => T): T | undefined {
  let directory: number | undefined
  try {
    directory = openSync(root, openDirectory)
    for (const part of relative(root, dirname(path)).split('/')) {
      if (part === '') continue
      const next = openSync(through(directory, part), openDirectory)
      closeSync(directory)
      directory = next
    }
    return act(through(directory, basename(path)), through(directory, '.'))
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  } finally {
    if (directory !== undefined) closeSync(directory)
  }
}

/** A path to an entry of an open directory. It stays valid even if the directory is moved, because it leads through procfs, or through volfs on macOS. */
export function through(directory: number, entry: string): string {
  if (process.platform !== 'darwin') return `/proc/self/fd/${directory}/${entry}`
  const { dev, ino } = fstatSync(directory, { bigint: true })
  return `/.vol/${dev}/${ino}/${entry}`
}

function isGone(error: unknown): boolean {
  const gone = ['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO', 'EEXIST']
  return error instanceof Error && 'code' in error && gone.includes(String(error.code))
}

function move(from: string, to: string, directory: string): void {
  try {
    renameOrCopy(from, to)
  } catch (error) {
    if (!hasCode(error, 'EACCES') && !hasCode(error, 'EPERM')) throw error
    // A command may have removed the permissions of the parent directory, or of the planted directory itself.
    const mode = statSync(directory).mode & 0o7777
    chmodSync(directory, mode | 0o700)
    try {
      if (lstatSync(from).isDirectory()) openUp(from)
      renameOrCopy(from, to)
    } finally {
      chmodSync(directory, mode)
    }
  }
}

function renameOrCopy(from: string, to: string): void {
  try {
    renameSync(from, to)
  } catch (error) {
    if (!hasCode(error, 'EXDEV')) throw error
    if (lstatSync(from).isDirectory()) openUp(from)
    copyPlain(from, to)
    rmSync(from, { recursive: true, force: true })
  }
}

/**
 * Copies a directory, a file or a symlink. A pipe or device becomes an empty file, because it has no content to keep, and opening it could block
 * forever.
 */
function copyPlain(from: string, to: string): void {
  const stat = lstatSync(from)
  if (stat.isSymbolicLink()) symlinkSync(readlinkSync(from), to)
  else if (stat.isDirectory()) {
    mkdirSync(to, { mode: 0o700 })
    for (const name of readdirSync(from)) {
      copyPlain(join(from, name), join(to, name))
    }
  } else if (stat.isFile()) copyFileSync(from, to, constants.COPYFILE_EXCL)
  else writeFileSync(to, '', { flag: 'wx', mode: 0o600 })
}

/** Gives the owner access to a directory and to all directories below it. */
function openUp(path: string): void {
  const directory = openSync(path, openDirectory)
  try {
    chmodSync(through(directory, '.'), 0o700)
    for (const entry of readEntriesSync(through(directory, '.'))) {
      if (entry.isDirectory()) openUp(through(directory, entry.name))
    }
  } finally {
    closeSync(directory)
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function openPlace(roots: readonly string[]): string {
  try {
    return makePlace(roots)
  } catch (error) {
    throw new NoQuarantine(error instanceof Error ? error.message : String(error), { cause: error })
  }
}

function makePlace(roots: readonly string[]): string {
  const quarantine = join(closedState(roots), 'quarantine')
  makeDirectories(quarantine)
  return mkdtempSync(join(quarantine, `${new Date().toISOString().replaceAll(':', '-')}-${process.pid}-`))
}
