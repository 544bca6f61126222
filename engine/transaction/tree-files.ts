import { createHash } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  type BigIntStats,
  type PathLike,
} from 'node:fs'
import { writeChunks } from '../../apply-patch/index.ts'

/** How many bytes of a file are in memory at a time. */
const chunkSize = 1024 * 1024

/** The stats of a file; undefined if it doesn't exist or can't be accessed. */
export function statsOf(file: Buffer): BigIntStats | undefined {
  try {
    return lstatSync(file, { bigint: true, throwIfNoEntry: false })
  } catch {
    // The parent is no longer a directory, or can't be entered.
    return undefined
  }
}

/** Opens a file for reading. Doesn't open symbolic links, and never blocks on a pipe. @throws the system's error */
export function openToRead(file: PathLike): number {
  return openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
}

/**
 * Allocates a buffer for reading a file of this size; a large file is read in several parts. For a small file, the buffer is one byte larger than the
 * file, so if the buffer isn't full after reading, the whole file was read.
 */
export function bufferFor(size: number): Buffer {
  return Buffer.allocUnsafe(Math.min(size + 1, chunkSize))
}

/** Reads until the buffer is full or the file ends. @returns how many bytes were read @throws the system's error */
export function fill(descriptor: number, buffer: Buffer): number {
  let length = 0
  while (length < buffer.length) {
    const got = readSync(descriptor, buffer, length, buffer.length - length, null)
    if (got === 0) break
    length += got
  }
  return length
}

/**
 * Yields the bytes of an open file from its current position to its end. Each chunk is valid until the next one is requested.
 *
 * @param filled the number of bytes of the file that the buffer already contains; they are the first chunk. Default: the buffer is filled now
 * @throws the system's error
 */
export function* chunksOf(descriptor: number, buffer: Buffer, filled = fill(descriptor, buffer)): Iterable<Buffer> {
  for (let got = filled; got > 0; got = got < buffer.length ? 0 : fill(descriptor, buffer))
    yield buffer.subarray(0, got)
}

/**
 * The SHA-256 of an open file, from its current position to its end.
 *
 * @param size the size of the file, which determines only the size of the buffer
 * @throws the system's error
 */
export function hashOfDescriptor(descriptor: number, size: number): string {
  const sum = createHash('sha256')
  for (const chunk of chunksOf(descriptor, bufferFor(size))) sum.update(chunk)
  return sum.digest('hex')
}

/**
 * Returns the SHA-256 of a file in a tree. The file may be of any size. Doesn't open symbolic links, and never blocks on a pipe.
 *
 * @returns undefined if it can't be read or isn't a regular file
 */
export function hashOfFile(file: Buffer): string | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openToRead(file)
    const stats = fstatSync(descriptor)
    return stats.isFile() ? hashOfDescriptor(descriptor, stats.size) : undefined
  } catch {
    // The file has been removed, or isn't accessible.
    return undefined
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/**
 * Copies a file to a new one and keeps it sparse: blocks of zeros take no space in the copy. The copy gets the mode of the original and, if this user may
 * give files to others, its owner and group.
 *
 * @throws the system's error
 */
export function copySparse(from: PathLike, to: PathLike, { mode, uid, gid }: BigIntStats): void {
  const source = openToRead(from)
  try {
    const target = openSync(to, 'wx', 0o600)
    try {
      writeChunks(target, chunksOf(source, Buffer.allocUnsafe(chunkSize)))
      try {
        fchownSync(target, Number(uid), Number(gid))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EPERM') throw error
      }
      // The mode is set last, because a change of the owner clears bits of it.
      fchmodSync(target, Number(mode & 0o7777n))
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}
