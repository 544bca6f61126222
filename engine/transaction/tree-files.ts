import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readSync,
  writeSync,
  type BigIntStats,
} from 'node:fs'

/** How much of a file is in memory at a time. */
const chunkSize = 1024 * 1024

/** The stats of a file; undefined if it doesn't exist. */
export function statsOf(file: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false })
  } catch {
    // Its parent is no longer a directory.
    return undefined
  }
}

/**
 * The SHA-256 of a file of a tree, whatever its size. Doesn't open symbolic links, and never blocks on a pipe.
 *
 * @returns undefined if it can't be read or isn't a regular file
 */
export function hashOfFile(file: Buffer): string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return undefined
    const [sum, buffer] = [createHash('sha256'), Buffer.allocUnsafe(Math.min(stats.size + 1, chunkSize))]
    for (;;) {
      const got = readSync(descriptor, buffer, 0, buffer.length, null)
      if (got === 0) return sum.digest('hex')
      sum.update(buffer.subarray(0, got))
    }
  } catch {
    // Removed, or not accessible.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** Copies a file to a new one and keeps it sparse: blocks of zeros take no space in the copy. @throws the system's error */
export function copySparse(from: Buffer, to: Buffer, mode: number): void {
  const source = openSync(from, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const target = openSync(to, 'wx', 0o600)
    try {
      const [buffer, zeros] = [Buffer.allocUnsafe(chunkSize), Buffer.alloc(chunkSize)]
      let at = 0
      for (let got = readSync(source, buffer); got > 0; got = readSync(source, buffer)) {
        const isHole = zeros.compare(buffer, 0, got, 0, got) === 0
        for (let done = 0; done < got && !isHole;) done += writeSync(target, buffer, done, got - done, at + done)
        at += got
      }
      ftruncateSync(target, at)
      fchmodSync(target, mode)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}
