import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

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
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  } catch (error) {
    return { reason: `it can't be read: ${(error as Error).message}` }
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return { reason: 'it is not a file' }
    if (stats.size > maxBytes) return { reason: `it has ${stats.size} bytes, but at most ${maxBytes} are allowed` }
    const bytes = Buffer.alloc(stats.size)
    const read = readSync(descriptor, bytes, 0, stats.size, 0)
    return bytes.subarray(0, read)
  } catch (error) {
    return { reason: `it can't be read: ${(error as Error).message}` }
  } finally {
    closeSync(descriptor)
  }
}
