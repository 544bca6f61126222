import { textEnd, textStart } from '../text/line-table.ts'
import { trimEnd, trimStart } from '../text/white-space.ts'
import type { LineHint } from '../patch.ts'
import type { Pass, SearchableFile } from './passes.ts'
import type { PreparedChunk } from './prepare-chunks.ts'

/** The lines of a file that equal the innermost heading of a chunk and are below its outer headings. Lines are 0-based. */
export type Headings = {
  readonly pass: Pass
  /** In ascending order; there is at least one. */
  readonly lines: Int32Array
  readonly first: number
  /** The first of these lines at or below the cursor, also searching for the outer headings only from there on, as Codex does. */
  readonly firstBelow: { readonly line: number } | undefined
  /** The lines that equal the next outer heading; undefined if the chunk has only one heading. */
  readonly outer: Int32Array | undefined
  /** Whether these lines only begin with a heading. Then they don't choose between places. Undefined if every heading is a whole line of the file. */
  readonly abbreviated?: true
}

/**
 * The lines that a chunk's headings may mean, most exact comparison first: one result for each pass in which all headings are found, or the index of the heading
 * that isn't found. If `abbreviated`, a last result treats headings that are no whole line as the beginning of one.
 */
export function* findHeadings(
  file: SearchableFile,
  prepared: PreparedChunk,
  cursor: number,
  passes: readonly Pass[],
  abbreviated: boolean,
): Generator<Headings | { readonly missing: number }> {
  let isFound = false
  for (const pass of passes) {
    const found = findInPass(file, prepared, cursor, pass)
    isFound ||= !('missing' in found)
    // The message is about the heading that no pass finds, and the last pass finds most.
    if (!('missing' in found) || pass === passes.at(-1)) yield found
  }
  if (isFound || !abbreviated) return
  const found = findAbbreviated(file, prepared, passes.at(-1) ?? 'exact')
  if (found !== undefined) yield found
}

function findInPass(
  file: SearchableFile,
  prepared: PreparedChunk,
  cursor: number,
  pass: Pass,
): Headings | { readonly missing: number } {
  const { anchorsFrom, oldFrom } = prepared
  const numbered = file.lines(pass)
  const ids = file.block(pass, anchorsFrom, oldFrom)
  let outer: Int32Array | undefined
  let lines: Int32Array = new Int32Array(0)
  for (let index = 0; index < ids.length; index++) {
    outer = index === 0 ? undefined : lines
    const all = numbered.places(ids[index] ?? 0)
    lines = outer === undefined ? all : all.subarray(firstFrom(all, (outer[0] ?? 0) + 1))
    if (lines.length === 0) return { missing: index }
  }
  let below: number | undefined = cursor - 1
  for (const id of ids) {
    const from: number = below
    below = numbered.find(Int32Array.of(id), from + 1, 1)[0]
    if (below === undefined) break
  }
  const firstBelow = below === undefined ? undefined : { line: below }
  return { pass, lines, first: lines[0] ?? 0, firstBelow, outer }
}

function findAbbreviated(file: SearchableFile, prepared: PreparedChunk, pass: Pass): Headings | undefined {
  const { chunk, anchorsFrom, oldFrom, oldTo } = prepared
  let lines: Int32Array | undefined
  for (const [index, { text }] of chunk.anchors.entries()) {
    const [id = 0] = file.block(pass, anchorsFrom + index, anchorsFrom + index + 1)
    const whole = file.lines(pass).places(id)
    const found: Int32Array = whole.length > 0 ? whole : linesThatBegin(file, text, oldFrom === oldTo)
    lines = lines === undefined ? found : found.subarray(firstFrom(found, (lines[0] ?? 0) + 1))
    if (lines.length === 0) return undefined
  }
  if (lines === undefined) return undefined
  const first = lines[0] ?? 0
  return { pass, lines, first, firstBelow: undefined, outer: undefined, abbreviated: true }
}

/** The lines that begin with a heading's text, without the decoration that models put at its end. @param isPlace whether nothing else says where the chunk belongs */
function linesThatBegin({ table }: SearchableFile, text: string, isPlace: boolean): Int32Array {
  const plain = ['@@', '...', '…'].reduce(
    (rest, sign) => (rest.endsWith(sign) ? rest.slice(0, -sign.length).trim() : rest),
    text.trim(),
  )
  // A few characters begin a line by chance.
  if (plain.length < (isPlace ? 4 : 1)) return new Int32Array(0)
  const sought = Buffer.from(plain)
  const found: number[] = []
  for (let line = 0; line < table.count; line++) {
    const end = textEnd(table, line)
    const start = trimStart(table.bytes, textStart(table, line), end)
    if (trimEnd(table.bytes, start, end) - start < sought.length || table.bytes[start] !== sought[0]) continue
    if (sought.compare(table.bytes, start, start + sought.length) === 0) found.push(line)
  }
  return Int32Array.from(found)
}

/**
 * The only one of several places whose nearest heading is above no other of these places, and these others. Undefined if there is no such place, or more than one.
 *
 * @param places in ascending order. @param headings the lines with the heading, in ascending order
 */
export function chooseByHeading(
  places: readonly number[],
  headings: Int32Array,
): { readonly line: number; readonly outvoted?: readonly number[] } | undefined {
  const owned = new Map<number, { readonly place: number; count: number }>()
  for (const place of places) {
    const next = firstFrom(headings, place + 1)
    const known = owned.get(next)
    if (known === undefined) owned.set(next, { place, count: 1 })
    else known.count++
  }
  const alone = [...owned.values()].filter(({ count }) => count === 1)
  const [chosen] = alone
  if (chosen === undefined || alone.length > 1) return undefined
  const outvoted = places.filter((place) => place !== chosen.place)
  return outvoted.length === 0 ? { line: chosen.place } : { line: chosen.place, outvoted }
}

/**
 * The only one of several places that is below the section that a header names; undefined if there isn't exactly one such place, or one such line. In YAML, for
 * example, the same line begins many sections.
 */
export function chooseBySection(
  { table }: SearchableFile,
  { section }: LineHint,
  places: readonly number[],
): { readonly line: number; readonly outvoted: readonly number[] } | undefined {
  if (section === undefined) return undefined
  const sought = Buffer.from(section)
  let heading: number | undefined
  for (let line = 0; line < table.count; line++) {
    const [start, end] = [textStart(table, line), textEnd(table, line)]
    if (end - start < sought.length || sought.compare(table.bytes, start, start + sought.length) !== 0) continue
    if (heading !== undefined) return undefined
    heading = line
  }
  const below = heading ?? Infinity
  const [chosen, further] = places.filter((line) => line > below)
  if (chosen === undefined || further !== undefined) return undefined
  return { line: chosen, outvoted: places.filter((line) => line !== chosen) }
}

/** The index of the first of some ascending numbers that is at least `least`. */
export function firstFrom(numbers: Int32Array, least: number): number {
  let low = 0
  let high = numbers.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((numbers[middle] ?? 0) < least) low = middle + 1
    else high = middle
  }
  return low
}
