import { ftruncateSync, writeSync } from 'node:fs'

/** The size, in bytes, of the buffer that combines small pieces for a single write. Larger pieces are written without being copied. */
const gathered = 256 * 1024

/** Writes all pieces, even if the system accepts only a part of the bytes at a time. @returns how many bytes were written */
export function writeAll(descriptor: number, pieces: readonly Uint8Array[]): number {
  const only = pieces.length === 1 ? pieces[0] : undefined
  if (only !== undefined) return writeOne(descriptor, only)
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0)
  const buffer = Buffer.allocUnsafe(Math.min(total, gathered))
  let used = 0
  for (const piece of pieces) {
    if (used + piece.length > buffer.length) {
      writeOne(descriptor, buffer.subarray(0, used))
      used = 0
    }
    if (piece.length > buffer.length) writeOne(descriptor, piece)
    else {
      buffer.set(piece, used)
      used += piece.length
    }
  }
  writeOne(descriptor, buffer.subarray(0, used))
  return total
}

function writeOne(descriptor: number, bytes: Uint8Array): number {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
  return bytes.length
}

/** The minimum number of bytes in a chunk of zeros that becomes a hole in the file. */
const worthAHole = 64 * 1024
const zeros = Buffer.alloc(1024 * 1024)

/**
 * Writes chunks as they arrive, starting at a position. A large chunk that contains only zeros takes no space, so a copy of a sparse file is sparse
 * too.
 *
 * @returns the position after the last byte
 * @throws the system's error
 * @internal
 */
export function writeChunks(descriptor: number, chunks: Iterable<Uint8Array>, from = 0): number {
  let [at, isHole] = [from, false]
  for (const chunk of chunks) {
    isHole =
      chunk.length >= worthAHole &&
      chunk.length <= zeros.length &&
      zeros.compare(chunk, 0, chunk.length, 0, chunk.length) === 0
    if (!isHole)
      for (let done = 0; done < chunk.length;)
        done += writeSync(descriptor, chunk, done, chunk.length - done, at + done)
    at += chunk.length
  }
  if (isHole) ftruncateSync(descriptor, at)
  return at
}
