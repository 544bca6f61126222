import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'

/**
 * Reads a regular file. Never waits on a pipe or a device, and never reads more than `maxBytes`.
 *
 * @throws Error that says why the file can't be read: it is missing, not a regular file, or larger
 */
export function readFile(path: string, maxBytes: number): Buffer {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error('it is not a regular file')
    const chunks: Buffer[] = []
    for (let size = 0; size <= maxBytes;) {
      const chunk = Buffer.allocUnsafe(Math.min(Math.max(stats.size - size, 0), maxBytes) + 4096)
      const read = readSync(descriptor, chunk, 0, chunk.length, size)
      if (read === 0) return Buffer.concat(chunks)
      chunks.push(chunk.subarray(0, read))
      size += read
    }
    throw new Error(`it has more than ${maxBytes} bytes`)
  } finally {
    closeSync(descriptor)
  }
}

/** The maximum size of an audit log, in bytes. A longer one doesn't fit into one text. */
export const largestLog = 400 * 1024 * 1024
