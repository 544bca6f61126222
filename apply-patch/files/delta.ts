import type { Content, Piece } from '../change-set.ts'

/**
 * Instructions for restoring old bytes from the new file, so that an undo doesn't need a second copy of unchanged bytes. Every three numbers describe two
 * adjacent runs of bytes of the old file: the length of a run that only the old file had, then the start in the new file and the length of a run that the new
 * file still contains.
 */
export type Delta = readonly number[]

/** The delta for an old file of `size` bytes, none of which are in the new file. */
export function wholeDelta(size: number): Delta {
  return [size, 0, 0]
}

/** Finds the delta by checking which pieces of the new content are slices of the buffer that contains the old file. */
export function findDelta(old: Buffer, content: Content): Delta {
  const delta: number[] = []
  let oldAt = 0
  let newAt = 0
  for (const piece of content) {
    const start = piece.byteOffset - old.byteOffset
    const isKept = piece.buffer === old.buffer && start >= oldAt && start + piece.length <= old.length
    if (isKept && piece.length > 0) {
      delta.push(start - oldAt, newAt, piece.length)
      oldAt = start + piece.length
    }
    newAt += piece.length
  }
  if (oldAt < old.length) delta.push(old.length - oldAt, 0, 0)
  return delta
}

/** The runs of bytes that only the old file had. */
export function* runsOf(old: Buffer, delta: Delta): Iterable<Uint8Array> {
  let from = 0
  for (let index = 0; index < delta.length; index += 3) {
    const to = from + (delta[index] ?? 0)
    if (to > from) yield old.subarray(from, to)
    from = to + (delta[index + 2] ?? 0)
  }
}

/** The total length, in bytes, of the runs of bytes that only the old file had. */
export function runLength(delta: Delta): number {
  return delta.reduce((sum, number, index) => (index % 3 === 0 ? sum + number : sum), 0)
}

/**
 * The bytes of the old file as pieces. Runs of bytes that only the old file had are taken from the journal, and the rest from the present file.
 *
 * @param runs returns a range of the concatenated runs
 * @param now returns a range of the present file
 */
export function applyDelta(
  delta: Delta,
  runs: (start: number, length: number) => Piece,
  now: (start: number, length: number) => Piece,
): readonly Piece[] {
  const pieces: Piece[] = []
  let at = 0
  for (let index = 0; index < delta.length; index += 3) {
    const [length = 0, start = 0, kept = 0] = delta.slice(index, index + 3)
    pieces.push(runs(at, length), now(start, kept))
    at += length
  }
  return pieces.filter((piece) => piece.length > 0)
}
