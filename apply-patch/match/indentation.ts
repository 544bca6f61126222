import { textEnd, textStart, type LineTable } from '../text/line-table.ts'
import { trimStart } from '../text/white-space.ts'
import type { SearchableFile } from './passes.ts'
import type { BodyLine, PreparedChunk } from './prepare-chunks.ts'

/** The lines of a chunk, with the added ones indented as the file indents its lines. */
export type IndentedLines = { readonly body: Uint8Array; readonly lines: readonly BodyLine[] }

/** The indentation of an old line as the patch has it, and as the file has it. */
type Pair = { readonly patch: string; readonly file: string }

/**
 * The lines of a chunk as they fit a place whose lines differ from the chunk's old lines in indentation. Added lines are shifted like the lines that they
 * replace, or, if they replace none, like the nearest lines of context above and below. Blank lines show nothing, but are shifted too if they have white space.
 *
 * @param line the first line of the place. @param length how many old lines were matched
 * @returns undefined if those lines are shifted differently, so that it isn't known how far the added ones must be
 */
export function indentAt(
  file: SearchableFile,
  { chunk, lines }: PreparedChunk,
  line: number,
  length: number,
): IndentedLines | undefined {
  const { body } = chunk
  const pairs = pairsOf(file, body, lines, line, length)
  // As in Codex: a line alone, at the end of the file, shows nothing about the indentation of others.
  if (chunk.endOfFile && pairs.size === 1) return { body, lines }
  const indents = new Map<number, string>()
  for (let from = 0; from < lines.length; from++) {
    if (lines[from]?.mark === 'context') continue
    let to = from
    while (to < lines.length && lines[to]?.mark !== 'context') to++
    const added = range(from, to).filter((at) => lines[at]?.mark === 'added')
    const own = added.map((at) => indentOf(body, lines[at]))
    const areBlank = added.map((at) => isBlank(body, lines[at]))
    const near = evidence(lines, pairs, from, to)
    const shifted = shift([...near, ...unitEvidence(near, own, pairs)], own, areBlank, file.table)
    if (shifted === undefined) return undefined
    for (const [index, at] of added.entries()) if (shifted[index] !== own[index]) indents.set(at, shifted[index] ?? '')
    from = to
  }
  return indents.size === 0 ? { body, lines } : rewrite(body, lines, indents)
}

function range(from: number, to: number): readonly number[] {
  return Array.from({ length: to - from }, (_, index) => from + index)
}

/** The pairs of all old lines that aren't blank, by their index in the chunk. */
function pairsOf(
  { table }: SearchableFile,
  body: Uint8Array,
  lines: readonly BodyLine[],
  line: number,
  length: number,
): ReadonlyMap<number, Pair> {
  const pairs = new Map<number, Pair>()
  let at = line
  for (const [index, each] of lines.entries()) {
    if (each.mark === 'added') continue
    if (at >= line + length) break
    if (!isBlank(body, each)) {
      const patch = indentOf(body, each)
      pairs.set(index, { patch, file: fileIndent(table, at, patch) })
    }
    at++
  }
  return pairs
}

/** The pairs that show how far the lines `from` to `to`, which are between two lines of context, are shifted. */
function evidence(
  lines: readonly BodyLine[],
  pairs: ReadonlyMap<number, Pair>,
  from: number,
  to: number,
): readonly Pair[] {
  const replaced = range(from, to).flatMap((at) => pairs.get(at) ?? [])
  if (replaced.length > 0) return replaced
  const nearest = (indices: readonly number[]): readonly Pair[] => {
    const known = indices.filter((at) => pairs.has(at))
    const at = known.find((each) => lines[each]?.mark === 'context') ?? known[0]
    return at === undefined ? [] : [pairs.get(at) ?? { patch: '', file: '' }]
  }
  return [...nearest(range(0, from).toReversed()), ...nearest(range(to, lines.length))]
}

/**
 * The pairs that show that the patch has spaces where the file has tabs, or the other way round, if the lines nearby aren't indented and the added lines are, like
 * those of the patch.
 */
function unitEvidence(
  near: readonly Pair[],
  own: readonly string[],
  pairs: ReadonlyMap<number, Pair>,
): readonly Pair[] {
  if (!near.every(({ patch, file }) => patch === file)) return []
  const starts = (indent: string): string => indent.slice(0, 1)
  return [...pairs.values()].filter(({ patch, file }) => {
    const isForeign = patch !== '' && file !== '' && starts(patch) !== starts(file)
    return isForeign && own.some((indent) => starts(indent) === starts(patch))
  })
}

/** The indentations `own` after they are shifted like the pairs; undefined if the pairs differ in their shift. */
function shift(
  pairs: readonly Pair[],
  own: readonly string[],
  areBlank: readonly boolean[],
  table: LineTable,
): readonly string[] | undefined {
  const shown = own.filter((_, index) => areBlank[index] === false)
  if (pairs.every(({ patch, file }) => patch === file) || own.length === 0) return own
  const indented = pairs.find(({ file }) => file !== '')
  const usesTabs = indented === undefined ? unitOf(table).hasTabs : pairs.some(({ file }) => file.includes('\t'))
  const written = [...pairs.map(({ patch }) => patch), ...shown]
  const foreign = written.filter((indent) => (usesTabs ? indent.startsWith(' ') : indent.includes('\t')))
  const possible = (): readonly number[] =>
    usesTabs ? widthsOf(foreign) : [...new Set([unitOf(table).unit, 4, 2, 8, 3])]
  const widths = foreign.length === 0 ? [8] : possible()
  const results = widths.flatMap((width) => {
    const convert = (indent: string): string => (usesTabs ? toTabs(indent, width) : toSpaces(indent, width))
    const shifts = pairs.map(({ patch, file }) => shiftBetween(convert(patch), file))
    const [first] = shifts
    if (first === undefined || !shifts.every((each) => each?.add === first.add && each.drop === first.drop)) return []
    const moved = own.map((indent, index) => {
      if (indent === '' && areBlank[index] === true) return indent
      return apply(first, convert(indent)) ?? (areBlank[index] === true ? indent : undefined)
    })
    return moved.includes(undefined) ? [] : [{ isNone: first.add + first.drop === '', moved: moved.map(String) }]
  })
  // A width of tabs that makes the patch fit without any shift is the one that its author used.
  const certain = results.some(({ isNone }) => isNone) ? results.filter(({ isNone }) => isNone) : results
  const [result] = certain
  const isSame = (moved: readonly string[]): boolean =>
    moved.every((indent, index) => areBlank[index] === true || indent === result?.moved[index])
  const moved = certain.every((each) => isSame(each.moved)) ? result?.moved : undefined
  return moved ?? (shown.length === 0 ? own : undefined)
}

type Shift = { readonly add: string; readonly drop: string }

function shiftBetween(patch: string, file: string): Shift | undefined {
  if (file.endsWith(patch)) return { add: file.slice(0, file.length - patch.length), drop: '' }
  return patch.endsWith(file) ? { add: '', drop: patch.slice(0, patch.length - file.length) } : undefined
}

function apply({ add, drop }: Shift, indent: string): string | undefined {
  return indent.startsWith(drop) ? add + indent.slice(drop.length) : undefined
}

/** The numbers of spaces for which the author of a patch may have meant one tab: what divides all its indentations. */
function widthsOf(indents: readonly string[]): readonly number[] {
  const common = indents.reduce((one, indent) => greatestDivisor(one, /^ */.exec(indent)?.[0].length ?? 0), 0)
  const divisors = [8, 6, 5, 4, 3, 2].filter((width) => common % width === 0)
  return divisors.length > 0 ? divisors : [8, 4, 2]
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b)
}

function toTabs(indent: string, width: number): string {
  // Spaces after a tab align a line, and are no unit of indentation.
  if (!/^ +$/.test(indent)) return indent
  return '\t'.repeat(Math.floor(indent.length / width)) + ' '.repeat(indent.length % width)
}

function toSpaces(indent: string, width: number): string {
  return indent.replaceAll('\t', ' '.repeat(width))
}

/** How many lines of a file are examined to find out its unit of indentation. */
const examinedLines = 5000

/** Whether a file's lines are mostly indented with tabs, and the number of spaces by which they are most often indented further than the line above. */
function unitOf(table: LineTable): { readonly unit: number; readonly hasTabs: boolean } {
  const counts = new Map<number, number>()
  let last = 0
  let tabs = 0
  for (let line = 0; line < Math.min(table.count, examinedLines); line++) {
    const [start, end] = [textStart(table, line), textEnd(table, line)]
    const text = trimStart(table.bytes, start, end)
    if (text === end) continue
    if (text > start) tabs += table.bytes[start] === 9 ? 1 : -1
    if (text - start > last) counts.set(text - start - last, (counts.get(text - start - last) ?? 0) + 1)
    last = text - start
  }
  const [unit] = [...counts].toSorted(([, a], [, b]) => b - a)
  return { unit: unit?.[0] ?? 4, hasTabs: tabs > 0 }
}

/** The indentation of a line of the file. If the patch has another, white space that isn't tabs and spaces counts too: its width is unknown, so nothing is shifted by it. */
function fileIndent(table: LineTable, line: number, patch: string): string {
  const { bytes } = table
  const [start, end] = [textStart(table, line), textEnd(table, line)]
  const indent = indentIn(bytes, start, end)
  return indent === patch ? indent : bytes.toString('latin1', start, trimStart(bytes, start, end))
}

function indentOf(body: Uint8Array, line: BodyLine | undefined): string {
  if (line === undefined) return ''
  return indentIn(body, line.start, line.end)
}

/** The tabs and spaces at the start of a text. Other white space is no indentation. */
function indentIn(bytes: Uint8Array, start: number, end: number): string {
  let at = start
  while (at < end && (bytes[at] === 9 || bytes[at] === 32)) at++
  return Buffer.from(bytes.subarray(start, at)).toString('latin1')
}

function isBlank(body: Uint8Array, line: BodyLine | undefined): boolean {
  return line === undefined || trimStart(body, line.start, line.end) === line.end
}

function rewrite(body: Uint8Array, lines: readonly BodyLine[], indents: ReadonlyMap<number, string>): IndentedLines {
  const pieces: Uint8Array[] = []
  let size = 0
  const rewritten = lines.map((line, at): BodyLine => {
    const indent = indents.get(at)
    const text =
      indent === undefined
        ? body.subarray(line.start, line.end)
        : Buffer.concat([
            Buffer.from(indent, 'latin1'),
            body.subarray(line.start + indentOf(body, line).length, line.end),
          ])
    pieces.push(text)
    const start = size
    size += text.length
    return { ...line, start, end: size }
  })
  return { body: Buffer.concat(pieces), lines: rewritten }
}
