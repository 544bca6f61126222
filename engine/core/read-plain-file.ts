import { readNamedFile } from '../../sandbox/index.ts'
import { UserError } from './user-error.ts'

/**
 * Reads the text of a file that somebody else may have created. A byte-order mark is removed.
 *
 * @param maxBytes a longer file is not read
 * @returns the text, or why it can't be read
 */
export function readPlainFile(path: string, maxBytes: number): string | { readonly reason: string } {
  const bytes = readPlainBytes(path, maxBytes)
  if ('reason' in bytes) return bytes
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return { reason: 'it is not UTF-8' }
  }
}

/**
 * Reads the bytes of a file that somebody else may have created. Never waits on a pipe, never follows a symlink at the end of the path, and never
 * reads more than `maxBytes`.
 *
 * @param maxBytes a longer file is not read
 * @returns the bytes, or why they can't be read
 */
export function readPlainBytes(path: string, maxBytes: number): Buffer | { readonly reason: string } {
  try {
    return readNamedFile(path, { maxBytes })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { reason: code === undefined ? message : `it can't be read: ${message}` }
  }
}

/**
 * Reads the bytes of a file that the user named, or that is in one of the user's own places. Symlinks are followed. Never waits on a pipe or a device,
 * and never reads more than `maxBytes`.
 *
 * @param shown the name of the file in messages
 * @throws UserError `usage` that says why the file can't be read
 */
export function readUserBytes(path: string, maxBytes: number, shown = path): Buffer {
  try {
    return readNamedFile(path, { maxBytes, follow: true })
  } catch (error) {
    throw new UserError('usage', `${shown}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}

/** Reads a file as `readUserBytes` does, as text. A byte-order mark is removed. */
export function readUserText(path: string, maxBytes: number, shown = path): string {
  return new TextDecoder().decode(readUserBytes(path, maxBytes, shown))
}
