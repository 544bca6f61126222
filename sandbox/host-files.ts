import { closeSync, constants, fchmodSync, fstatSync, readSync, type Stats } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import {
  accessSync,
  existsSync,
  lstatSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from './host-paths.ts'
import { randomName } from './random-name.ts'

const mebibyte = 1024 * 1024

type HowToRead = {
  /** A longer file is not read. Default: 1 MiB. */
  readonly maxBytes?: number
  /** Whether a symlink in the last component is followed. Default: false, so that a symlink doesn't count as a file. */
  readonly follow?: boolean
}

/**
 * Reads a regular file that commands may have created. It never waits for a pipe, and never reads more than `maxBytes`. Returns undefined if the file
 * is missing, not regular, too large, or unreadable.
 *
 * @internal
 */
export function readHostFile(path: string | Buffer, how: HowToRead = {}): Buffer | undefined {
  try {
    return readNamedFile(path, how)
  } catch {
    // The file is missing or unreadable, so the caller has to do without it.
    return undefined
  }
}

/**
 * Reads a file that somebody named, or that is in a place where settings are looked for. It never waits for a pipe or a device, and never reads more than
 * `maxBytes`.
 *
 * @throws Error that says why the file isn't read, in words that continue "FILE can't be read: "
 * @internal
 */
export function readNamedFile(path: string | Buffer, { maxBytes = mebibyte, follow = false }: HowToRead = {}): Buffer {
  const descriptor = openRegular(path, follow)
  try {
    const bytes = readRegular(descriptor, maxBytes)
    if (bytes !== undefined) return bytes
    throw new Error(`it has ${fstatSync(descriptor).size} bytes, but at most ${maxBytes} are read`)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Opens a regular file for reading, without waiting for the other end of a pipe.
 *
 * @param follow whether a symlink in the last component is followed
 * @throws Error that says why the file isn't opened, in words that continue "FILE can't be read: "
 * @internal
 */
export function openRegular(path: string | Buffer, follow: boolean): number {
  const stat = follow ? statSync : lstatSync
  const about = (stats: Stats | undefined): string | undefined =>
    stats === undefined || stats.isFile() ? undefined : `it is ${kindOf(stats)}, and only regular files are read`
  // An entry is looked at before it is opened, because opening a device may have an effect, and opening a socket fails for another reason.
  const kind = about(stat(path, { throwIfNoEntry: false }))
  if (kind !== undefined) throw new Error(kind)
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW))
  const now = about(fstatSync(descriptor))
  if (now === undefined) return descriptor
  closeSync(descriptor)
  throw new Error(now)
}

function kindOf(stats: Stats): string {
  if (stats.isDirectory()) return 'a directory'
  if (stats.isFIFO()) return 'a pipe'
  if (stats.isSocket()) return 'a socket'
  return stats.isSymbolicLink() ? 'a symbolic link' : 'a device'
}

/**
 * Returns the bytes of an open file; undefined if it isn't a regular file, or if it is larger than `maxBytes`. Throws the errors of read(2).
 *
 * @internal
 */
export function readRegular(descriptor: number, maxBytes: number): Buffer | undefined {
  const stat = fstatSync(descriptor)
  if (!stat.isFile() || stat.size > maxBytes) return undefined
  // One byte more than the size, because a file in /proc has the size 0, and because a file may grow while it is read.
  let bytes = Buffer.alloc(Math.min(stat.size, maxBytes) + 1)
  let length = 0
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length)
    if (read === 0) return bytes.subarray(0, length)
    length += read
    if (length > maxBytes) return undefined
    if (length === bytes.length) bytes = Buffer.concat([bytes], Math.min(2 * length + mebibyte, maxBytes + 1))
  }
}

/** A file to be written after the commands have ended, in a directory that they may be able to write to. */
type HeldOutput = {
  /** Writes the text to the file atomically. If that fails, throws an error that says why. */
  write(content: string | Uint8Array): void
}

const directoryOnly = process.platform === 'linux' ? constants.O_DIRECTORY | 0o1000_0000 : constants.O_DIRECTORY

/**
 * Prepares a file that will be written later: a new file or a regular one, never one that a link leads to, because an earlier command may have left the link
 * there. The file's directory is held open from now on, and when the file is written, it replaces the entry at its path. So if a command has put a link, a
 * pipe or a different file there in the meantime, nothing is written to that entry.
 *
 * @param closed whether a new file may be read only by this user. Default: false
 * @throws Error that says why the file can't be written: it is not a regular file, or this user may not write to it or to its directory
 * @internal
 */
export function holdOutput(file: string, closed = false): HeldOutput {
  const path = placeOf(file)
  const before = lstatSync(path, { throwIfNoEntry: false })
  if (before !== undefined && !before.isFile()) throw new Error('it is not a file')
  if (before !== undefined) accessSync(path, constants.W_OK)
  accessSync(dirname(path), constants.W_OK | constants.X_OK)
  const directory = openSync(dirname(path), constants.O_RDONLY | directoryOnly)
  const held = fstatSync(directory, { bigint: true })
  const mode = closed ? 0o600 : before === undefined ? 0o666 & ~process.umask() : before.mode & 0o777
  return {
    write: (content) => {
      const now = lstatSync(dirname(path), { bigint: true, throwIfNoEntry: false })
      if (now?.ino !== held.ino || now.dev !== held.dev)
        throw new Error('the directory that contains it was moved away in the meantime')
      const at = process.platform === 'linux' ? `/proc/self/fd/${directory}` : dirname(path)
      const fresh = `${at}/.${basename(path)}.${randomName()}`
      try {
        writeNew(fresh, content, mode)
        renameSync(fresh, `${at}/${basename(path)}`)
      } catch (error) {
        rmSync(fresh, { force: true })
        throw error
      }
    },
  }
}

/**
 * Creates a file for appending and keeps it open. If another file replaces it later, nothing is written to that file. Throws `EEXIST` if the file
 * exists, and the errors of `holdOutput` for links.
 *
 * @internal
 */
export function openNewFile(path: string): { append(text: string): void } {
  const descriptor = openSync(
    placeOf(path),
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND,
    0o666,
  )
  return { append: (text) => writeFileSync(descriptor, text) }
}

/**
 * Where a file is that somebody named. Links that lead to the current directory, or to a repository, are the user's own; below them, a command may have made
 * them.
 *
 * @throws Error if the path is such a link, or leads through one
 */
function placeOf(file: string): string {
  const path = resolve(file)
  let inside = false
  let at = '/'
  for (const name of path.split('/').slice(1)) {
    inside ||= at === process.cwd() || existsSync(join(at, '.git'))
    at = join(at, name)
    if ((inside || at === path) && lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink() === true)
      throw new Error(`${at === path ? 'it' : at} is a symbolic link; name the file without it`)
  }
  return join(realpathSync(dirname(path)), basename(path))
}

function writeNew(path: string, content: string | Uint8Array, mode: number): void {
  const descriptor = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  )
  try {
    writeFileSync(descriptor, content)
    fchmodSync(descriptor, mode)
  } finally {
    closeSync(descriptor)
  }
}
