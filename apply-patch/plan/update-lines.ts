import type { Content } from '../change-set.ts'
import { failureLimit, type Failure } from '../patch-error.ts'
import { SearchableFile } from '../match/passes.ts'
import { findRepeated } from '../match/repeated.ts'
import { seekChunk, type Cursor } from '../match/seek.ts'
import { prepareChunks, type PreparedChunk } from '../match/prepare-chunks.ts'
import type { UpdateFile } from '../patch.ts'
import type { LineTable } from '../text/line-table.ts'
import { describeFailure } from './chunk-failure.ts'
import { placeOf } from './chunk-warnings.ts'
import { editLines, editsOf, withoutTrailingEmpty, type LineEdit } from './edit-lines.ts'
import { locateChunk, type LocatedPiece } from './locate-chunk.ts'
import type { UpdateContext } from './update-context.ts'
import { WarningList } from './warning-list.ts'

/**
 * The content of a file after the chunks of an update have been applied. If a chunk doesn't match, a failure is recorded, and the other chunks are
 * still searched for, so that one message names everything that is wrong.
 *
 * @returns undefined if nothing changes
 */
export function updateLines(
  bytes: Buffer,
  { path, chunks }: UpdateFile,
  context: UpdateContext & { readonly hunk: number; readonly absolute: string },
): Content | undefined {
  const { prepared, needles } = prepareChunks(chunks)
  const file = SearchableFile.of(bytes, needles)
  const edits: LineEdit[] = []
  const atEnd: LineEdit[] = []
  const failures: (() => Failure)[] = []
  // They count only if the file's chunks all have a place. While they are collected, their number bounds the search for further candidates.
  const warnings = new WarningList()
  const own = { ...context, warnings }
  let cursor: Cursor = { line: 0, changed: 0 }
  for (const [index, chunk] of prepared.entries()) {
    if (context.failures.length + failures.length > failureLimit) break
    const where = {
      path,
      absolute: context.absolute,
      hunk: context.hunk,
      chunk: index + 1,
      patchLine: chunk.chunk.line,
    }
    const filling = context.mode === 'strict' ? undefined : fillEmptyFile(file.table, chunk)
    if (filling !== undefined) {
      const message = `${placeOf(where)}: the file is empty, and was treated as one blank line`
      warnings.add({ code: 'empty-file', message, path, patchLine: where.patchLine })
      atEnd.push(filling)
      continue
    }
    const found = locateChunk(file, chunk, cursor, own)
    if ('failure' in found) {
      const from = cursor
      failures.push(() => describeFailure(file, chunk, found.failure, from, where, context))
      continue
    }
    for (const warning of found.warnings(where)) warnings.add(warning)
    if (found.type === 'insert-at-end') {
      const { count } = file.table
      const added = chunk.lines.filter(({ mark }) => mark === 'added')
      const { body, finalNewline } = chunk.chunk
      atEnd.push({ from: count, to: count, body, added, finalNewline })
      continue
    }
    for (const piece of found.pieces) {
      const chunkEdits = editsAt(piece)
      edits.push(...chunkEdits)
      cursor = {
        line: Math.max(cursor.line, piece.line + piece.length),
        changed: Math.max(cursor.changed, chunkEdits.at(-1)?.to ?? piece.line),
      }
    }
  }
  if (failures.length > 0) {
    const elsewhere = context.mode === 'strict' ? undefined : editsInAnyOrder(file, prepared)
    if (elsewhere === undefined) {
      for (const failure of failures) context.failures.push(failure())
      return undefined
    }
    const message = `${path}, hunk ${context.hunk}: its chunks are not in the order of the file; each was applied where it fits, which is one place`
    context.warnings.add({ code: 'out-of-order', message, path, patchLine: prepared[0]?.chunk.line ?? 1 })
    return editLines(file.table, elsewhere)
  }
  context.warnings.addAll(warnings)
  return editLines(file.table, [...edits, ...atEnd])
}

/** The edits of chunks that aren't in the order of the file, if each of them fits the whole file exactly once, without ignoring anything but blanks at line ends. */
function editsInAnyOrder(file: SearchableFile, chunks: readonly PreparedChunk[]): readonly LineEdit[] | undefined {
  const edits: LineEdit[] = []
  for (const chunk of chunks) {
    if (chunk.oldFrom === chunk.oldTo || chunk.chunk.unmarked !== undefined) return undefined
    const match = seekChunk(file, chunk, { line: 0, changed: 0 }, 'strict')
    if (match.type !== 'found' || match.ambiguous.length > 0) return undefined
    if (findRepeated(file, chunk, match) !== undefined) return undefined
    edits.push(...editsAt({ chunk, line: match.line, length: match.length }))
  }
  const sorted = edits.toSorted((one, other) => one.from - other.from)
  const overlaps = sorted.some((edit, index) => {
    const before = sorted[index - 1]
    return before !== undefined && (edit.from < before.to || edit.from === before.from)
  })
  return overlaps ? undefined : sorted
}

function editsAt({ chunk, line, length, indented }: LocatedPiece): readonly LineEdit[] {
  const { body, finalNewline } = chunk.chunk
  const { body: text, lines } = indented ?? { body, lines: chunk.lines }
  const leftOut = chunk.oldTo - chunk.oldFrom - length
  const kept = leftOut === 0 ? lines : withoutTrailingEmpty(lines, leftOut)
  const edits = editsOf(text, kept, line, length)
  return finalNewline === undefined ? edits : edits.map((edit) => ({ ...edit, finalNewline }))
}

/**
 * The edit that a chunk makes to an empty file. The chunk fits such a file if it has no anchor and its only old line is empty, because an empty file
 * may look like one empty line to the patch's author. As with Codex, an empty context line stays, unless it is the last line.
 */
function fillEmptyFile({ count }: LineTable, { chunk, lines }: PreparedChunk): LineEdit | undefined {
  const [old, ...others] = lines.filter(({ mark }) => mark !== 'added')
  if (count > 0 || chunk.anchors.length > 0 || old === undefined || others.length > 0 || old.start < old.end) {
    return undefined
  }
  const added = lines.filter(
    (line, index) => line.mark === 'added' || (line.mark === 'context' && index < lines.length - 1),
  )
  return { from: 0, to: 0, body: chunk.body, added, finalNewline: chunk.finalNewline }
}
