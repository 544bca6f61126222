import type { Mode } from '../patch.ts'
import { passes, type Pass, type SearchableFile } from './passes.ts'
import type { PreparedChunk } from './prepare-chunks.ts'

/** The positions from which a chunk is searched for. */
export type Cursor = {
  /** The line after the last match. */
  readonly line: number
  /** The line after the last change. In lenient mode, a chunk that matches nowhere from `line` on is also searched for from here on. */
  readonly changed: number
}

/** The position of a chunk in the file, or the reason why it wasn't found. Lines are 0-based. */
export type Match =
  | {
      readonly type: 'found'
      /** The line that matches the chunk's first old line; for an insertion, the line before which the new lines are inserted. */
      readonly line: number
      /** How many old lines were matched. Trailing empty lines may have been left out of the match. */
      readonly length: number
      readonly pass: Pass
      /** If several places matched equally well, so that the first of them was chosen, the lines of all of them; otherwise empty. */
      readonly ambiguous: readonly number[]
      /** Whether the match was only found by reusing context of the previous chunk. */
      readonly sharesContext: boolean
    }
  | { readonly type: 'insert-at-end' }
  | { readonly type: 'anchor-missing'; readonly anchor: number; readonly from: number }
  | { readonly type: 'lines-missing'; readonly from: number }

/** The search stops at this many candidates, because nobody reads a longer list. */
const candidateLimit = 1000

type Place = { readonly line: number; readonly hits: readonly number[]; readonly pass: Pass }

/**
 * Finds where a chunk belongs, in the first pass that has a match from the cursor on: at the first match; if the chunk has a line number as a hint,
 * at the match nearest to that line; if the chunk must be at the end of the file, at the last match.
 *
 * @param limit the maximum number of candidates to search for; with fewer than 2, an ambiguous match isn't detected
 */
export function seekChunk(
  file: SearchableFile,
  chunk: PreparedChunk,
  cursor: Cursor,
  mode: Mode,
  limit: number = candidateLimit,
): Match {
  const match = seekFrom(file, chunk, cursor.line, mode, limit)
  if (match.type === 'found' || match.type === 'insert-at-end') return match
  if (mode === 'strict' || cursor.changed === cursor.line) return match
  const again = seekFrom(file, chunk, cursor.changed, mode, limit)
  return again.type === 'found' ? { ...again, sharesContext: true } : match
}

function seekFrom(file: SearchableFile, prepared: PreparedChunk, from: number, mode: Mode, limit: number): Match {
  const { chunk, anchorsFrom, oldFrom, oldTo } = prepared
  let start = from
  let anchor: Place | undefined
  for (let index = anchorsFrom; index < oldFrom; index++) {
    anchor = findFirst(file, index, index + 1, start, mode, limit)
    if (anchor === undefined) return { type: 'anchor-missing', anchor: index - anchorsFrom, from: start }
    start = anchor.line + 1
  }
  if (oldFrom === oldTo) return placeInsertion(file, prepared, anchor, start)
  for (const end of possibleEnds(prepared)) {
    const found = chunk.endOfFile
      ? findAtEnd(file, oldFrom, end, start, mode)
      : findBelow(file, prepared, end, anchor, start, mode, limit)
    if (found === undefined) continue
    const isArbitrary =
      found.hits.length > 1 && chunk.hint === undefined && (anchor === undefined || anchor.hits.length > 1)
    return {
      type: 'found',
      line: found.line,
      length: end - oldFrom,
      pass: found.pass,
      ambiguous: isArbitrary ? found.hits : [],
      sharesContext: false,
    }
  }
  return { type: 'lines-missing', from: start }
}

function placeInsertion(
  file: SearchableFile,
  { chunk }: PreparedChunk,
  anchor: Place | undefined,
  start: number,
): Match {
  if (chunk.endOfFile) return { type: 'insert-at-end' }
  const inserted = { type: 'found', length: 0, sharesContext: false } as const
  if (anchor !== undefined) {
    return { ...inserted, line: start, pass: anchor.pass, ambiguous: anchor.hits.length > 1 ? anchor.hits : [] }
  }
  if (chunk.hint === undefined) return { type: 'insert-at-end' }
  const line = chunk.hint.count === 0 ? chunk.hint.start : Math.max(0, chunk.hint.start - 1)
  if (line < start || line > file.table.count) return { type: 'lines-missing', from: start }
  return { ...inserted, line, pass: 'exact', ambiguous: [] }
}

/**
 * The positions at which the old lines may end, in the order in which they are tried: after all lines, before the last trailing empty line, and
 * before all trailing empty lines, but always after at least one line.
 */
function possibleEnds({ lines, oldFrom, oldTo }: PreparedChunk): readonly number[] {
  const last = lines.findLast(({ mark }) => mark !== 'added')
  if (last === undefined || last.start !== last.end) return [oldTo]
  const ends = [oldTo]
  const old = lines.filter(({ mark }) => mark !== 'added')
  let end = oldTo
  while (end - 1 > oldFrom && old[end - 1 - oldFrom]?.start === old[end - 1 - oldFrom]?.end) end--
  if (oldTo - 1 > oldFrom && end < oldTo) ends.push(oldTo - 1)
  if (end < oldTo - 1) ends.push(end)
  // If all lines are empty, none is left out, because a few empty lines would match nearly anywhere.
  return old.slice(0, end - oldFrom).every(({ start, end: to }) => start === to) ? [oldTo] : ends
}

function findBelow(
  file: SearchableFile,
  { chunk, anchorsFrom, oldFrom }: PreparedChunk,
  end: number,
  anchor: Place | undefined,
  start: number,
  mode: Mode,
  limit: number,
): Place | undefined {
  if (anchor !== undefined) {
    // Models often repeat the anchor as the first line of context, so a match that starts at the anchor itself is tried first.
    for (const pass of passesOf(mode)) {
      const block = file.block(pass, oldFrom, end)
      const [anchorId] = file.block(pass, oldFrom - 1, oldFrom)
      if (oldFrom > anchorsFrom && block[0] === anchorId && file.lines(pass).matchesAt(block, anchor.line)) {
        return { line: anchor.line, hits: anchor.hits.length > 1 ? anchor.hits : [anchor.line], pass }
      }
    }
  }
  // If the chunk has a line number as a hint, the match nearest to that line is chosen.
  const found = findFirst(file, oldFrom, end, start, mode, chunk.hint === undefined ? limit : candidateLimit)
  if (found === undefined || chunk.hint === undefined) return found
  const wanted = chunk.hint.start - 1
  const nearest = found.hits.reduce((best, hit) => (Math.abs(hit - wanted) < Math.abs(best - wanted) ? hit : best))
  return { ...found, line: nearest }
}

/** Finds the first match, and the other matches up to the limit, in the first pass that has any. */
function findFirst(
  file: SearchableFile,
  from: number,
  to: number,
  start: number,
  mode: Mode,
  limit: number,
): Place | undefined {
  for (const pass of passesOf(mode)) {
    const hits = file.lines(pass).find(file.block(pass, from, to), start, limit)
    if (hits[0] !== undefined) return { line: hits[0], hits, pass }
  }
  return undefined
}

/** The last match in the file, provided that only blank lines follow it; otherwise undefined. */
function findAtEnd(file: SearchableFile, from: number, to: number, start: number, mode: Mode): Place | undefined {
  for (const pass of passesOf(mode)) {
    const lines = file.lines(pass)
    const block = file.block(pass, from, to)
    for (let end = file.table.count; end - (to - from) >= start; end--) {
      const line = end - (to - from)
      if (lines.matchesAt(block, line)) return { line, hits: [line], pass }
      if (!file.isBlank(end - 1)) break
    }
  }
  return undefined
}

/** The passes that a mode allows. Strict mode tolerates only differences in white space at the end of a line. */
function passesOf(mode: Mode): readonly Pass[] {
  return mode === 'strict' ? passes.slice(0, 2) : passes
}
