import type { Mode } from '../patch.ts'
import { chooseByHeading, chooseBySection, findHeadings, firstFrom, type Headings } from './headings.ts'
import { indentAt } from './indentation.ts'
import { lacksMarksAt } from './unmarked-lines.ts'
import { isLoose, passes, type Pass, type SearchableFile } from './passes.ts'
import type { BodyLine, PreparedChunk } from './prepare-chunks.ts'

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
      /** If several places matched equally well, so that one of them was guessed, the lines of all of them; otherwise empty. */
      readonly ambiguous: readonly number[]
      /** The other places that matched, if the heading decided against them; undefined if there are none. */
      readonly outvoted?: readonly number[]
      /** Whether the match was only found by reusing context of the previous chunk. */
      readonly sharesContext: boolean
      /** Whether the place fits only if the chunk's lines of context lack the space that marks them; undefined if not. */
      readonly unmarked?: true
      /**
       * The line of the file that was taken for an abbreviated heading, which may be another than the author meant, so that it doesn't choose between places.
       * Undefined if every heading is a whole line of the file.
       */
      readonly abbreviated?: number
    }
  | { readonly type: 'insert-at-end' }
  | { readonly type: 'anchor-missing'; readonly anchor: number; readonly from: number }
  | { readonly type: 'lines-missing'; readonly from: number }

/** The search stops at this many candidates, because nobody reads a longer list. */
const candidateLimit = 1000

type Place = {
  readonly line: number
  readonly ambiguous: readonly number[]
  readonly outvoted?: readonly number[]
  readonly pass: Pass
  readonly unmarked?: true
}

/**
 * Finds where a chunk belongs: in the first pass that has a match, at or below the cursor and below the chunk's headings.
 *
 * If several places match, a heading decides if it is the nearest one above exactly one of them and above no other, and so does a line number at which one of
 * them starts, unless the section behind the number is that of another. Otherwise the match is ambiguous, and the place that Codex would use is the result: the first one, or the one nearest to the line number.
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
  if (prepared.anchorsFrom === prepared.oldFrom) return seekBelow(file, prepared, undefined, from, mode, limit)
  let missing: Match | undefined
  for (const headings of findHeadings(file, prepared, from, passesOf(mode), mode === 'lenient')) {
    if ('missing' in headings) {
      missing ??= { type: 'anchor-missing', anchor: headings.missing, from }
      continue
    }
    const match = seekBelow(file, prepared, headings, from, mode, candidateLimit)
    if (match.type === 'found' || match.type === 'insert-at-end') {
      if (headings.abbreviated === undefined || match.type === 'insert-at-end') return match
      const nearest = headings.lines[firstFrom(headings.lines, match.line + 1) - 1]
      return { ...match, abbreviated: nearest ?? headings.first }
    }
    if (headings.abbreviated === undefined) missing = match
  }
  return missing ?? { type: 'anchor-missing', anchor: 0, from }
}

function seekBelow(
  file: SearchableFile,
  prepared: PreparedChunk,
  headings: Headings | undefined,
  from: number,
  mode: Mode,
  limit: number,
): Match {
  const { chunk, oldFrom, oldTo } = prepared
  if (oldFrom === oldTo) return placeInsertion(file, prepared, headings, from)
  const old = prepared.lines.filter(({ mark }) => mark !== 'added')
  for (const end of possibleEnds(prepared, old)) {
    const found = findPlace(file, prepared, end, headings, from, mode, limit)
    if (found === undefined) continue
    // A removed line that isn't there may be further below, unless nothing is.
    const isAtEnd = found.line + end - oldFrom === file.table.count
    if (!isAtEnd && old.slice(end - oldFrom).some(({ mark }) => mark === 'removed')) continue
    return { type: 'found', ...found, length: end - oldFrom, sharesContext: false }
  }
  const start = headings === undefined ? from : Math.max(from, headings.first + 1)
  return { type: 'lines-missing', from: chunk.endOfFile ? from : start }
}

function placeInsertion(
  file: SearchableFile,
  { chunk }: PreparedChunk,
  headings: Headings | undefined,
  from: number,
): Match {
  if (chunk.endOfFile) return { type: 'insert-at-end' }
  const inserted = { type: 'found', length: 0, sharesContext: false } as const
  if (headings !== undefined) {
    const below = Array.from(headings.lines.subarray(firstFrom(headings.lines, from - 1)))
    const [first] = below
    if (first === undefined) return { type: 'anchor-missing', anchor: chunk.anchors.length - 1, from }
    const chosen = headings.outer === undefined ? undefined : chooseByHeading(below, headings.outer)
    if (chosen !== undefined) {
      const outvoted = chosen.outvoted?.map((line) => line + 1)
      return { ...inserted, line: chosen.line + 1, pass: headings.pass, ambiguous: [], ...(outvoted && { outvoted }) }
    }
    const ambiguous = below.length > 1 ? below.slice(0, candidateLimit) : []
    return { ...inserted, line: first + 1, pass: headings.pass, ambiguous }
  }
  if (chunk.hint === undefined) return { type: 'insert-at-end' }
  const line = chunk.hint.count === 0 ? chunk.hint.start : Math.max(0, chunk.hint.start - 1)
  if (line < from || line > file.table.count) return { type: 'lines-missing', from }
  return { ...inserted, line, pass: 'exact', ambiguous: [] }
}

/**
 * The positions at which the old lines may end, in the order in which they are tried: after all lines, before the last trailing empty line, and
 * before all trailing empty lines, but always after at least one line.
 */
function possibleEnds({ oldFrom, oldTo }: PreparedChunk, old: readonly BodyLine[]): readonly number[] {
  const last = old.at(-1)
  if (last === undefined || last.start !== last.end) return [oldTo]
  const ends = [oldTo]
  let end = oldTo
  while (end - 1 > oldFrom && old[end - 1 - oldFrom]?.start === old[end - 1 - oldFrom]?.end) end--
  if (oldTo - 1 > oldFrom && end < oldTo) ends.push(oldTo - 1)
  if (end < oldTo - 1) ends.push(end)
  // If all lines are empty, none is left out, because a few empty lines would match nearly anywhere.
  return old.slice(0, end - oldFrom).every(({ start, end: to }) => start === to) ? [oldTo] : ends
}

function findPlace(
  file: SearchableFile,
  prepared: PreparedChunk,
  end: number,
  headings: Headings | undefined,
  from: number,
  mode: Mode,
  limit: number,
): Place | undefined {
  const { chunk, oldFrom } = prepared
  for (const pass of passesOf(mode)) {
    const lines = file.lines(pass)
    const block = file.block(pass, oldFrom, end)
    // Models often repeat the heading as the first line of context, so a match may start at the heading itself.
    const isRepeated = headings !== undefined && block[0] === file.block(pass, oldFrom - 1, oldFrom)[0]
    const repeats = isRepeated || headings?.abbreviated === true
    const start = headings === undefined ? from : Math.max(from, headings.first + (repeats ? 0 : 1))
    const all = chunk.endOfFile
      ? findAtEnd(file, block, start, pass)
      : lines.find(block, start, chunk.hint === undefined ? limit : candidateLimit)
    if (all.length === 0) continue
    const fitting = isLoose(pass) ? fittingPlaces(file, prepared, all, end - oldFrom) : { hits: all }
    const { hits, unmarked } = fitting
    const [first] = hits
    if (first === undefined) continue
    const place = { pass, ...(unmarked && { unmarked }) }
    if (hits.length === 1) return { ...place, line: first, ambiguous: [] }
    if (chunk.hint !== undefined) {
      const wanted = chunk.hint.start - 1
      const isThere = wanted >= start && !isLoose(pass) && lines.matchesAt(block, wanted)
      const isNumbered = isThere || hits.includes(wanted)
      const chosen = hits.length < candidateLimit ? chooseBySection(file, chunk.hint, hits) : undefined
      if (isNumbered && (chosen === undefined || chosen.line === wanted))
        return { ...place, line: wanted, ambiguous: [] }
      if (!isNumbered && chosen !== undefined) return { ...place, ...chosen, ambiguous: [] }
      const nearest = hits.reduce((best, hit) => (Math.abs(hit - wanted) < Math.abs(best - wanted) ? hit : best))
      return { ...place, line: nearest, ambiguous: hits }
    }
    if (headings === undefined) return { ...place, line: first, ambiguous: hits }
    const mayChoose = hits.length < candidateLimit && headings.abbreviated === undefined
    const chosen = mayChoose ? chooseByHeading(hits, headings.lines) : undefined
    if (chosen !== undefined) return { ...place, ...chosen, ambiguous: [] }
    const { firstBelow } = headings
    const usual = firstBelow && hits.find((hit) => hit > firstBelow.line || (repeats && hit === firstBelow.line))
    return { ...place, line: usual ?? first, ambiguous: hits }
  }
  return undefined
}

/**
 * The places that remain of those at which lines are equal apart from their indentation. If, at some, only the marks of the context lines are missing, these are
 * the places. Otherwise, they are those at which it is known how far to indent the added lines.
 */
function fittingPlaces(
  file: SearchableFile,
  prepared: PreparedChunk,
  places: readonly number[],
  length: number,
): { readonly hits: readonly number[]; readonly unmarked?: true } {
  const unmarked = places.filter((line) => lacksMarksAt(file, prepared, line, length))
  if (unmarked.length > 0) return { hits: unmarked, unmarked: true }
  if (prepared.chunk.unmarked !== undefined) return { hits: [] }
  return { hits: places.filter((line) => indentAt(file, prepared, line, length) !== undefined) }
}

/** The last place in the file, provided that only blank lines follow it; otherwise none. */
function findAtEnd(file: SearchableFile, block: Int32Array, start: number, pass: Pass): readonly number[] {
  const lines = file.lines(pass)
  for (let end = file.table.count; end - block.length >= start; end--) {
    if (lines.matchesAt(block, end - block.length)) return [end - block.length]
    if (!file.isBlank(end - 1)) break
  }
  return []
}

/** The passes that a mode allows. Strict mode tolerates only differences in white space at the end of a line. */
function passesOf(mode: Mode): readonly Pass[] {
  return mode === 'strict' ? passes.slice(0, 2) : passes
}
