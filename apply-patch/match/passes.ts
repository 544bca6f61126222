import { normalize, trimEnd, trimStart } from '../text/white-space.ts'
import { findLines, textEnd, textStart, type LineTable } from '../text/line-table.ts'
import { Dictionary } from './dictionary.ts'
import { NumberedLines } from './find-block.ts'

/**
 * The ways to compare lines, in the order in which they are tried: from an exact comparison to one that trims lines and replaces typographic punctuation with
 * ASCII.
 */
export const passes = ['exact', 'trimmed-end', 'trimmed', 'punctuation'] as const
export type Pass = (typeof passes)[number]

/** Whether a pass ignores indentation. */
export function isLoose(pass: Pass): boolean {
  return pass === 'trimmed' || pass === 'punctuation'
}

/**
 * Looser ways to compare lines: they ignore all ASCII white space, or also the case of ASCII letters. Lines that are equal only in these ways never
 * count as a match. These comparisons serve only to explain why a chunk matches nowhere.
 */
type Likeness = 'white-space' | 'letter-case'

/** A range of bytes that contains one line to search for, without its mark and its line ending. */
export type LineRange = { readonly bytes: Uint8Array; readonly start: number; readonly end: number }

/**
 * A file prepared for searches. When a search first uses a way to compare lines (a pass), the lines are turned into numbers for that pass. Lines that
 * are equal in this comparison get the same number, and all lines that are not searched for get the number -1.
 */
export class SearchableFile {
  readonly table: LineTable
  readonly #needles: readonly LineRange[]
  readonly #numbered = new Map<Pass | Likeness, { readonly lines: NumberedLines; readonly needleIds: Int32Array }>()

  /** @param needles every line that will be looked for, in any search */
  constructor(table: LineTable, needles: readonly LineRange[]) {
    // The first line is compared without the file's byte-order mark, unless the patch writes the mark too.
    const isMarked = table.markLength > 0 && needles.some(({ bytes, start, end }) => hasMark(bytes, start, end))
    this.table = isMarked ? { ...table, markLength: 0 } : table
    this.#needles = needles
  }

  static of(bytes: Buffer, needles: readonly LineRange[]): SearchableFile {
    return new SearchableFile(findLines(bytes), needles)
  }

  /** The lines of the file as numbers. Lines that the pass considers equal have the same number. */
  lines(pass: Pass | Likeness): NumberedLines {
    return this.#number(pass).lines
  }

  /** The numbers that a pass gives to the sought lines. `from` and `to` (exclusive) are indices in the constructor's `needles`. */
  block(pass: Pass | Likeness, from: number, to: number): Int32Array {
    return this.#number(pass).needleIds.subarray(from, to)
  }

  /** Whether a line contains only white space. */
  isBlank(line: number): boolean {
    const end = textEnd(this.table, line)
    return trimStart(this.table.bytes, textStart(this.table, line), end) === end
  }

  #number(pass: Pass | Likeness): { readonly lines: NumberedLines; readonly needleIds: Int32Array } {
    const known = this.#numbered.get(pass)
    if (known !== undefined) return known
    const size = this.#needles.reduce((sum, { start, end }) => sum + end - start, 0)
    const dictionary = new Dictionary(this.#needles.length, size)
    const reduce = new Reducer(pass)
    const needleIds = new Int32Array(this.#needles.length)
    for (let index = 0; index < this.#needles.length; index++) {
      const line = this.#needles[index]
      if (line === undefined) continue
      reduce.set(line.bytes, line.start, line.end)
      needleIds[index] = dictionary.add(reduce.bytes, reduce.start, reduce.end)
    }
    const { table } = this
    const { bytes, starts } = table
    const ids = new Int32Array(table.count)
    // A line that equals the previous one gets the same number without being normalized and hashed, because comparing the two costs less. The length is -1 as
    // long as there is no previous line.
    let [lastStart, lastLength] = [0, -1]
    for (let line = 0; line < table.count; line++) {
      const start = line === 0 ? table.markLength : (starts[line] ?? 0)
      let end = starts[line + 1] ?? start
      // Like `textEnd`, but inlined, because a call for each line would be slow in a very long file.
      if (end > start && bytes[end - 1] === 10) end--
      if (end > start && bytes[end - 1] === 13) end--
      const length = end - start
      if (length === lastLength && isSame(bytes, start, lastStart, length)) ids[line] = ids[line - 1] ?? -1
      else if (pass === 'exact') ids[line] = dictionary.find(bytes, start, end)
      else {
        reduce.set(bytes, start, end)
        ids[line] = dictionary.find(reduce.bytes, reduce.start, reduce.end)
      }
      lastStart = start
      lastLength = length
    }
    const numbered = { lines: new NumberedLines(ids, dictionary.size), needleIds }
    this.#numbered.set(pass, numbered)
    return numbered
  }
}

/** Determines the part of a line that a pass compares. The result is stored in fields, so that no object is created for each of the many lines of a file. */
class Reducer {
  bytes: Uint8Array = new Uint8Array(0)
  start = 0
  end = 0
  readonly #pass: Pass | Likeness
  #scratch = new Uint8Array(256)

  constructor(pass: Pass | Likeness) {
    this.#pass = pass
  }

  set(bytes: Uint8Array, start: number, end: number): void {
    this.bytes = bytes
    if (this.#pass === 'white-space' || this.#pass === 'letter-case') return this.#squeeze(bytes, start, end)
    this.start = this.#pass === 'trimmed' || this.#pass === 'punctuation' ? trimStart(bytes, start, end) : start
    this.end = this.#pass === 'exact' ? end : trimEnd(bytes, this.start, end)
    if (this.#pass !== 'punctuation' || !hasMultiByte(bytes, this.start, this.end)) return
    this.#useScratch(end - start)
    // As in Codex, nothing is trimmed after this step.
    this.end = normalize(bytes, this.start, this.end, this.#scratch)
    this.start = 0
  }

  #squeeze(bytes: Uint8Array, start: number, end: number): void {
    this.#useScratch(end - start)
    let to = 0
    for (let at = start; at < end; at++) {
      const byte = bytes[at] ?? 0
      if (byte === 0x20 || (byte >= 0x09 && byte <= 0x0d)) continue
      this.#scratch[to++] = this.#pass === 'letter-case' && byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte
    }
    this.start = 0
    this.end = to
  }

  #useScratch(size: number): void {
    if (this.#scratch.length < size) this.#scratch = new Uint8Array(size * 2)
    this.bytes = this.#scratch
  }
}

function isSame(bytes: Uint8Array, one: number, other: number, length: number): boolean {
  for (let at = 0; at < length; at++) if (bytes[one + at] !== bytes[other + at]) return false
  return true
}

function hasMultiByte(bytes: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if ((bytes[at] ?? 0) >= 0x80) return true
  return false
}

function hasMark(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start >= 3 && bytes[start] === 0xef && bytes[start + 1] === 0xbb && bytes[start + 2] === 0xbf
}
