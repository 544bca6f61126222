import type { Cause, SeekFailure } from '../errors.ts'
import { passes, SearchableFile, type LineRange } from '../match/passes.ts'
import type { Cursor, Sighting } from '../match/seek.ts'
import type { PreparedChunk } from '../match/sought.ts'
import { lineText } from '../text/line-table.ts'
import { trim } from '../text/trim.ts'
import { findNearest } from './find-nearest.ts'

type Missing = Extract<Sighting, { type: 'anchor-missing' | 'lines-missing' }>
type Diagnosis = Pick<SeekFailure, 'code' | 'sought' | 'nearest' | 'causes'>

/** Files larger than this are not searched for causes beyond the exact ones. */
const sizeLimit = 32 * 1024 * 1024

/** Says of a chunk that has no place what comes closest, and why it misses as far as that can be recognised. */
export function diagnose(
  file: SearchableFile,
  chunk: PreparedChunk,
  missing: Missing,
  cursor: Cursor,
  otherFiles: () => readonly { readonly path: string; readonly bytes: Buffer }[],
): Diagnosis {
  const isAnchor = missing.type === 'anchor-missing'
  const ranges = isAnchor ? [anchorRange(chunk, missing.anchor)] : oldRanges(chunk)
  const sought = ranges.map(({ bytes, start, end }) => Buffer.from(bytes.subarray(start, end)).toString())
  const causes: Cause[] = []
  const { bytes, count } = file.table
  if (count === 0) causes.push({ type: 'empty-file' })
  const encoding = encodingOf(bytes)
  if (encoding !== undefined) causes.push({ type: 'encoding', encoding })
  const above = findAnywhere(bytes, ranges)
  if (above !== undefined && above < missing.from && cursor.line > 0) {
    causes.push({ type: 'above-previous-chunk', fileLine: above + 1 })
  } else if (above !== undefined && !isAnchor && chunk.chunk.endOfFile) {
    causes.push({ type: 'not-at-end-of-file', fileLine: above + 1 })
  }
  if (!isAnchor) causes.push(...findApplied(bytes, chunk))
  if (above === undefined && bytes.length <= sizeLimit) causes.push(...findAlike(bytes, sought))
  if (above === undefined && isAnchor && bytes.length <= sizeLimit)
    causes.push(...findPartOfLine(file, sought[0] ?? ''))
  if (causes.length === 0) causes.push(...findElsewhere(otherFiles(), ranges))
  const nearest = above === undefined && bytes.length <= sizeLimit ? findNearest(file.table, sought) : undefined
  return {
    code: isAnchor ? 'anchor-not-found' : 'lines-not-found',
    sought,
    causes,
    ...(nearest === undefined ? {} : { nearest }),
  }
}

function anchorRange({ chunk }: PreparedChunk, index: number): LineRange {
  const bytes = Buffer.from(chunk.anchors[index]?.text ?? '')
  return { bytes, start: 0, end: bytes.length }
}

function oldRanges({ chunk, lines }: PreparedChunk): readonly LineRange[] {
  return lines.flatMap(({ mark, start, end }) => (mark === 'added' ? [] : [{ bytes: chunk.body, start, end }]))
}

/** Where lines stand in some file under any pass: the 0-based first line. */
function findAnywhere(bytes: Buffer, ranges: readonly LineRange[]): number | undefined {
  const file = SearchableFile.of(bytes, ranges)
  for (const pass of passes) {
    const [line] = file.lines(pass).find(file.block(pass, 0, ranges.length), 0, 1)
    if (line !== undefined) return line
  }
  return undefined
}

/** The chunk's new lines stand in the file: it has probably been applied before. */
function findApplied(bytes: Buffer, { chunk, lines }: PreparedChunk): readonly Cause[] {
  const fresh = lines.flatMap(({ mark, start, end }) => (mark === 'removed' ? [] : [{ bytes: chunk.body, start, end }]))
  const says = lines.some(({ mark, start, end }) => mark === 'added' && end > start)
  // Only context is left of a pure deletion; two lines of it side by side are some evidence.
  if (!says && fresh.filter(({ start, end }) => end > start).length < 2) return []
  const line = findAnywhere(bytes, fresh)
  return line === undefined ? [] : [{ type: 'already-applied', fileLine: line + 1 }]
}

type Likeness = 'indentation' | 'white-space' | 'letter-case'

/** Ways in which lines can be alike that no pass forgives, each as what remains of a line when it is disregarded. */
const likenesses: readonly (readonly [Likeness, (text: string) => string])[] = [
  ['indentation', (text) => trim(text)],
  ['white-space', (text) => text.replace(/\s+/g, '')],
  ['letter-case', (text) => text.replace(/\s+/g, '').toLowerCase()],
]

function findAlike(bytes: Buffer, sought: readonly string[]): readonly Cause[] {
  const joined = sought.join('\n')
  if (joined.trim() === '' || joined.length > 1_000_000) return []
  const text = bytes.toString()
  if (/\r(?!\n)/.test(text)) {
    const line = lineOf(text.replace(/\r\n?/g, '\n'), joined)
    if (line !== undefined) return [{ type: 'line-endings', fileLine: line }]
  }
  const lines = text.split(/\r?\n/)
  for (const [type, reduce] of likenesses) {
    const line = lineOf(lines.map(reduce).join('\n'), sought.map(reduce).join('\n'))
    if (line !== undefined) return [{ type, fileLine: line }]
  }
  return []
}

/** The 1-based line where whole lines stand in a text. */
function lineOf(text: string, lines: string): number | undefined {
  const at = `\n${text}\n`.indexOf(`\n${lines}\n`)
  return at === -1 ? undefined : text.slice(0, at).split('\n').length
}

/** An anchor must be a whole line; models often give only a part of it. */
function findPartOfLine({ table }: SearchableFile, text: string): readonly Cause[] {
  const plain = text.replace(/\s*@@$/, '').trim()
  if (plain.length < 3) return []
  const at = table.bytes.indexOf(plain)
  if (at === -1) return []
  let line = 0
  while ((table.starts[line + 1] ?? Infinity) <= at) line++
  return [{ type: 'anchor-is-part-of-line', fileLine: line + 1, text: trim(lineText(table, line)) }]
}

function findElsewhere(
  files: readonly { path: string; bytes: Buffer }[],
  ranges: readonly LineRange[],
): readonly Cause[] {
  let budget = sizeLimit
  for (const { path, bytes } of files) {
    budget -= bytes.length
    if (budget < 0) break
    const line = findAnywhere(bytes, ranges)
    if (line !== undefined) return [{ type: 'in-another-file', path, fileLine: line + 1 }]
  }
  return []
}

function encodingOf(bytes: Buffer): 'utf-16' | undefined {
  const [a, b] = bytes
  return (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) ? 'utf-16' : undefined
}
