import { closeSync, constants, fchmodSync, fstatSync, readSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import process from 'node:process'
import { accessSync, lstatSync, openSync, realpathSync, renameSync, rmSync, writeFileSync } from './host-paths.ts'
import { randomName } from './random-name.ts'

const mebibyte = 1024 * 1024

/**
 * Reads a regular file that commands may have created. It never waits for a pipe, and never reads more than `maxBytes`. Returns undefined if the file
 * is missing, not regular, too large, or unreadable.
 *
 * @param how `follow`: a symlink in the last component is followed. By default, a symlink doesn't count as a file
 * @internal
 */
export function readHostFile(
  path: string | Buffer,
  { maxBytes = mebibyte, follow = false }: { readonly maxBytes?: number; readonly follow?: boolean } = {},
): Buffer | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | (follow ? 0 : constants.O_NOFOLLOW))
    return readRegular(descriptor, maxBytes)
  } catch {
    // The file is missing or unreadable, so the caller has to do without it.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/**
 * Returns the bytes of an open file; undefined if it isn't a regular file, or if it is larger than `maxBytes`. Throws the errors of read(2).
 *
 * @internal
 */
export function readRegular(descriptor: number, maxBytes: number): Buffer | undefined {
  const stat = fstatSync(descriptor)
  if (!stat.isFile() || stat.size > maxBytes) return undefined
  const bytes = Buffer.alloc(stat.size)
  let length = 0
  while (length < bytes.length) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, length)
    if (read === 0) break
    length += read
  }
  return bytes.subarray(0, length)
}

/** A file to be written after the commands have ended, in a directory that they may be able to write to. */
type HeldOutput = {
  /** Writes the text to the file atomically. If that fails, throws an error that says why. */
  write(text: string): void
}

const directoryOnly = process.platform === 'linux' ? constants.O_DIRECTORY | 0o1000_0000 : constants.O_DIRECTORY

/**
 * Prepares a file that will be written later. Call this before any command runs. Links in the path are followed only now, and then the file's
 * directory is held open. When the file is written, it replaces the entry at its path. So if a command has put a link, a pipe or a different file
 * there, nothing is written to that entry.
 *
 * @param closed whether a new file may be read only by this user. Default: false
 * @throws Error that says why the file can't be written: it is not a regular file, or this user may not write to it or to its directory
 * @internal
 */
export function holdOutput(file: string, closed = false): HeldOutput {
  const path = placeOf(resolve(file))
  const before = lstatSync(path, { throwIfNoEntry: false })
  if (before !== undefined && !before.isFile()) throw new Error('it is not a file')
  if (before !== undefined) accessSync(path, constants.W_OK)
  accessSync(dirname(path), constants.W_OK | constants.X_OK)
  const directory = openSync(dirname(path), constants.O_RDONLY | directoryOnly)
  const held = fstatSync(directory, { bigint: true })
  const mode = closed ? 0o600 : before === undefined ? 0o666 & ~process.umask() : before.mode & 0o777
  return {
    write: (text) => {
      const now = lstatSync(dirname(path), { bigint: true, throwIfNoEntry: false })
      if (now?.ino !== held.ino || now.dev !== held.dev)
        throw new Error('the directory that contains it was moved away in the meantime')
      const at = process.platform === 'linux' ? `/proc/self/fd/${directory}` : dirname(path)
      const fresh = `${at}/.${basename(path)}.${randomName()}`
      try {
        writeNew(fresh, text, mode)
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
 * exists.
 *
 * @internal
 */
export function openNewFile(path: string): { append(text: string): void } {
  const descriptor = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_APPEND,
    0o666,
  )
  return { append: (text) => writeFileSync(descriptor, text) }
}

/** A path with its links resolved. If the file is missing, only the path of its directory is resolved. */
function placeOf(path: string): string {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return join(realpathSync(dirname(path)), basename(path))
  return realpathSync(path)
}

function writeNew(path: string, text: string, mode: number): void {
  const descriptor = openSync(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  )
  try {
    writeFileSync(descriptor, text)
    fchmodSync(descriptor, mode)
  } finally {
    closeSync(descriptor)
  }
}
