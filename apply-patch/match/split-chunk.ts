import type { SearchableFile } from './passes.ts'
import type { PreparedChunk } from './prepare-chunks.ts'
import { standsAt } from './repeated.ts'

/** A part of a chunk, and the only line of the file at which it fits. */
export type Piece = { readonly chunk: PreparedChunk; readonly line: number; readonly length: number }

/** The parts of a chunk, the lines of the places among which the patch doesn't choose, or the line at which the chunk was applied before. */
type Split =
  { readonly pieces: readonly Piece[] } | { readonly ambiguous: readonly number[] } | { readonly applied: number }

/** The maximum number of lines of a file that equal the chunk's rarest line, for a search around a line that is left out. */
const rarityLimit = 200

/** The maximum number of old lines of a chunk that is split. Longer ones aren't, because the places of all their parts would have to be searched. */
const lengthLimit = 400

/**
 * Splits a chunk that fits nowhere into parts that do, in the order of the file: between two changes, if an `@@` is missing there, or where the chunk leaves out a
 * single line of the file.
 *
 * @returns undefined if there are no such parts
 */
export function splitChunk(file: SearchableFile, chunk: PreparedChunk, from: number): Split | undefined {
  if (chunk.oldTo - chunk.oldFrom > lengthLimit || chunk.chunk.endOfFile) return undefined
  const pieces = joinedPieces(file, chunk, from)
  return pieces === undefined ? piecesAroundGap(file, chunk, from) : { pieces }
}

/** The parts of a chunk that consists of several, each of which changes something and fits the file only once. */
function joinedPieces(file: SearchableFile, chunk: PreparedChunk, from: number): readonly Piece[] | undefined {
  const pieces: Piece[] = []
  let rest = chunk
  let start = from
  while (rest.oldFrom < rest.oldTo) {
    const fitting = longestFit(file, rest, start)
    let length = fitting
    while (length > 0 && length < rest.oldTo - rest.oldFrom && !isGapAllowed(rest, length)) length--
    const piece = length === rest.oldTo - rest.oldFrom ? rest : part(rest, 0, length)
    const line = length === 0 || !changes(piece) ? undefined : onlyPlace(file, piece, 0)
    if (line === undefined || line < start) return undefined
    pieces.push({ chunk: piece, line, length })
    start = line + length
    if (piece === rest) return pieces.length > 1 ? pieces : undefined
    rest = part(rest, length, rest.oldTo - rest.oldFrom)
  }
  return undefined
}

/**
 * The two parts of a chunk that leaves out one line of the file. If there is more than one such place, or if the line is where the chunk inserts lines, so that they
 * may belong above it or below it, the result is the lines of all possible places.
 */
function piecesAroundGap(file: SearchableFile, chunk: PreparedChunk, from: number): Split | undefined {
  const lines = file.lines('trimmed-end')
  const block = file.block('trimmed-end', chunk.oldFrom, chunk.oldTo)
  // The rarest line decides which places are examined at all.
  const frequency = (index: number): number => lines.frequency(block[index] ?? 0)
  const rarest = block.reduce((best, _, index) => (frequency(index) < frequency(best) ? index : best), 0)
  if (block.length === 0 || frequency(rarest) === 0 || frequency(rarest) > rarityLimit) return undefined
  const known = Array.from(lines.places(block[rarest] ?? 0))
  const starts = [...new Set(known.flatMap((place) => [place - rarest - 1, place - rarest]))]
  const gaps = starts
    .filter((start) => start >= from)
    .map((start) => {
      let same = 0
      while (same < block.length && lines.ids[start + same] === block[same]) same++
      return { start, same }
    })
    .filter(({ start, same }) => same > 0 && lines.matchesAt(block.subarray(same), start + same + 1))
  // The line that is left out may be the one that the chunk inserts.
  const applied = gaps.find(({ start }) => standsAt(file, chunk, start, { pass: 'trimmed-end' }))
  if (applied !== undefined) return { applied: applied.start }
  const [gap, another] = gaps
  if (gap === undefined) return undefined
  if (another !== undefined) return { ambiguous: gaps.map(({ start }) => start) }
  const { start, same } = gap
  // If the line that is left out equals the one above, it may as well be that one which is left out.
  const isCertain = lines.ids[start + same] !== block[same - 1] && isGapAllowed(chunk, same)
  if (!isCertain) return { ambiguous: [start + same, start + same + 1] }
  const [before, after] = [part(chunk, 0, same), part(chunk, same, block.length)]
  return {
    pieces: [
      { chunk: before, line: start, length: same },
      { chunk: after, line: start + same + 1, length: block.length - same },
    ],
  }
}

/** How many of a chunk's first old lines fit somewhere below a line, at most. */
function longestFit(file: SearchableFile, { oldFrom, oldTo }: PreparedChunk, from: number): number {
  const fits = (length: number): boolean =>
    file.lines('trimmed-end').find(file.block('trimmed-end', oldFrom, oldFrom + length), from, 1).length > 0
  let [low, high] = [0, oldTo - oldFrom]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if (fits(middle)) low = middle
    else high = middle - 1
  }
  return low
}

function onlyPlace(file: SearchableFile, { oldFrom, oldTo }: PreparedChunk, from: number): number | undefined {
  const hits = file.lines('trimmed-end').find(file.block('trimmed-end', oldFrom, oldTo), from, 2)
  return hits.length === 1 ? hits[0] : undefined
}

/** The index, in the chunk's lines, of the old line with this number. */
function indexOfOld({ lines }: PreparedChunk, number: number): number {
  let seen = 0
  const index = lines.findIndex(({ mark }) => mark !== 'added' && seen++ === number)
  return index === -1 ? lines.length : index
}

/**
 * Whether the file may have other lines before the old line with this number: not between removed lines, and not where lines are inserted, but after
 * added lines that replace removed ones.
 */
function isGapAllowed(chunk: PreparedChunk, number: number): boolean {
  const at = indexOfOld(chunk, number)
  const hasAdded = chunk.lines[at - 1]?.mark === 'added'
  return chunk.lines[indexOfOld(chunk, number - 1)]?.mark === 'removed'
    ? hasAdded || chunk.lines[at]?.mark !== 'removed'
    : !hasAdded
}

function changes({ lines }: PreparedChunk): boolean {
  return lines.some(({ mark }) => mark !== 'context')
}

/** The part of a chunk from one old line up to, but not including, another. The first part keeps the chunk's headings. */
function part(chunk: PreparedChunk, from: number, to: number): PreparedChunk {
  const start = from === 0 ? 0 : indexOfOld(chunk, from)
  const lines = chunk.lines.slice(start, indexOfOld(chunk, to))
  const anchorsFrom = from === 0 ? chunk.anchorsFrom : chunk.oldFrom + from
  return { ...chunk, anchorsFrom, oldFrom: chunk.oldFrom + from, oldTo: chunk.oldFrom + to, lines }
}
