import { writeSync } from 'node:fs'

/** Pieces are combined up to this size: one call for many small pieces, and no second copy of a big file. */
const gathered = 256 * 1024

/** Writes all pieces, however many bytes the system accepts at a time. @returns how many bytes that were */
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
