import type { Cause, SeekFailure } from '../patch-error.ts'
import { SearchableFile, type LineRange } from '../match/passes.ts'
import type { Cursor, Match } from '../match/seek.ts'
import type { Mode } from '../patch.ts'
import type { PreparedChunk } from '../match/prepare-chunks.ts'
import { lineText } from '../text/line-table.ts'
import { trim } from '../text/trim.ts'
import { findNearest } from './find-nearest.ts'

type Missing = Extract<Match, { type: 'anchor-missing' | 'lines-missing' }>
type Diagnosis = Pick<SeekFailure, 'code' | 'expected' | 'nearest' | 'causes'>

/**
 * The maximum size of a file, in bytes, for the slower of the checks that find out why a chunk doesn't match; also the maximum total size of the
 * other files that are searched for its lines.
 */
const sizeLimit = 32 * 1024 * 1024

/** For a chunk that doesn't match, finds the most similar lines of the file, and the reason why they don't match, if it can be recognized. */
export function diagnose(
  file: SearchableFile,
  chunk: PreparedChunk,
  missing: Missing,
  cursor: Cursor,
  mode: Mode,
  otherFiles: () => readonly { readonly path: string; readonly bytes: Buffer }[],
): Diagnosis {
  const isAnchor = missing.type === 'anchor-missing'
  const from = isAnchor ? chunk.anchorsFrom + missing.anchor : chunk.oldFrom
  const to = isAnchor ? from + 1 : chunk.oldTo
  const ranges = isAnchor ? [anchorRange(chunk, missing.anchor)] : oldRanges(chunk)
  const expected = ranges.map(({ bytes, start, end }) =>
    Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString(),
  )
  const causes: Cause[] = []
  const { bytes, count } = file.table
  if (count === 0) causes.push({ type: 'empty-file' })
  const encoding = encodingOf(bytes)
  if (encoding !== undefined) causes.push({ type: 'encoding', encoding })
  const above = findAnywhere(file, from, to, mode)
  if (above !== undefined && above < missing.from) {
    // The lines exist, but above the place where the search starts, which is below the previous chunk and below the anchor.
    causes.push({ type: above < cursor.line ? 'above-previous-chunk' : 'above-anchor', fileLine: above + 1 })
  } else if (above !== undefined && !isAnchor) {
    causes.push({ type: chunk.chunk.endOfFile ? 'not-at-end-of-file' : 'uneven-indentation', fileLine: above + 1 })
  }
  if (!isAnchor) causes.push(...findApplied(bytes, chunk, mode))
  if (above === undefined && bytes.length <= sizeLimit) causes.push(...findAlike(file, from, to, expected))
  if (above === undefined && isAnchor) causes.push(...findPartOfLine(file, expected[0] ?? ''))
  if (above === undefined && !isAnchor && beginsWithHeaders(chunk)) causes.push({ type: 'diff-headers' })
  if (causes.length === 0) causes.push(...findElsewhere(otherFiles(), ranges, mode))
  const nearest = above === undefined ? findNearest(file, from, to, expected) : undefined
  return {
    code: isAnchor ? 'anchor-not-found' : 'lines-not-found',
    expected,
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

/**
 * The first position of the sought lines `from` to `to` in a file; undefined if the file doesn't contain them. Only the most lenient pass of the mode is used,
 * because it finds everything that the other passes find.
 */
function findAnywhere(file: SearchableFile, from: number, to: number, mode: Mode): number | undefined {
  const pass = mode === 'strict' ? 'trimmed-end' : 'punctuation'
  return file.lines(pass).find(file.block(pass, from, to), 0, 1)[0]
}

/** Looks for the lines as they would be after the chunk is applied. If the file contains them, the chunk has probably been applied before. */
function findApplied(bytes: Buffer, { chunk, lines }: PreparedChunk, mode: Mode): readonly Cause[] {
  const fresh = lines.flatMap(({ mark, start, end }) => (mark === 'removed' ? [] : [{ bytes: chunk.body, start, end }]))
  const says = lines.some(({ mark, start, end }) => mark === 'added' && end > start)
  // If a chunk adds no text, applying it leaves only its context in the file. That is evidence only if at least two lines of the context aren't
  // empty.
  if (!says && fresh.filter(({ start, end }) => end > start).length < 2) return []
  const line = findAnywhere(SearchableFile.of(bytes, fresh), 0, fresh.length, mode)
  return line === undefined ? [] : [{ type: 'already-applied', fileLine: line + 1 }]
}

function findAlike(file: SearchableFile, from: number, to: number, expected: readonly string[]): readonly Cause[] {
  if (expected.join('').trim() === '') return []
  for (const [pass, type] of [
    ['trimmed', 'indentation'],
    ['punctuation', 'punctuation'],
    ['white-space', 'white-space'],
    ['letter-case', 'letter-case'],
  ] as const) {
    const [line] = file.lines(pass).find(file.block(pass, from, to), 0, 1)
    if (line !== undefined) return [{ type, fileLine: line + 1 }]
  }
  return []
}

/** Finds the line that contains the text of an anchor. An anchor must be a whole line, but models often give only a part of the line. */
function findPartOfLine({ table }: SearchableFile, text: string): readonly Cause[] {
  const plain = (text.endsWith('@@') ? text.slice(0, -2) : text).trim()
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
  mode: Mode,
): readonly Cause[] {
  let budget = sizeLimit
  for (const { path, bytes } of files) {
    budget -= bytes.length
    if (budget < 0) break
    const line = findAnywhere(SearchableFile.of(bytes, ranges), 0, ranges.length, mode)
    if (line !== undefined) return [{ type: 'in-another-file', path, fileLine: line + 1 }]
  }
  return []
}

/** Whether the lines of a chunk begin with `--- x` and `+++ y`, as the section of a file does in a unified diff. */
function beginsWithHeaders({ chunk, lines }: PreparedChunk): boolean {
  const [old, added] = lines
  const beginsWith = (line: typeof old, text: string): boolean =>
    line !== undefined && Buffer.from(chunk.body).toString('latin1', line.start, line.start + text.length) === text
  const arePair = old?.mark === 'removed' && added?.mark === 'added'
  return chunk.anchors.length === 0 && arePair && beginsWith(old, '-- ') && beginsWith(added, '++ ')
}

function encodingOf(bytes: Buffer): 'utf-16' | undefined {
  const [a, b] = bytes
  return (a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff) ? 'utf-16' : undefined
}
