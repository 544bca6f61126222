import { writeSync, writevSync } from 'node:fs'

/** Linux's and macOS's limit on the pieces of one `writev`. */
const piecesAtOnce = 1024

/** Below this, copying the pieces together costs less than handing them over one by one. */
const smallEnoughToCopy = 64 * 1024

/** Writes all pieces, whatever the system takes at a time. @returns how many bytes that were */
export function writeAll(descriptor: number, pieces: readonly Uint8Array[]): number {
  const total = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (pieces.length === 1 || total <= smallEnoughToCopy) {
    writeOne(descriptor, pieces.length === 1 ? (pieces[0] ?? new Uint8Array()) : Buffer.concat(pieces, total))
    return total
  }
  let next = 0
  while (next < pieces.length) {
    const batch = pieces.slice(next, next + piecesAtOnce)
    next += batch.length
    const expected = batch.reduce((sum, piece) => sum + piece.length, 0)
    const written = writevSync(descriptor, batch)
    // A short write means a nearly full disk or a signal; the rest is small or fails for good.
    if (written < expected) writeOne(descriptor, Buffer.concat(batch, expected).subarray(written))
  }
  return total
}

function writeOne(descriptor: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at)
}
