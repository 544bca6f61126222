import type { Content, Warning } from '../change-set.ts'
import { failureLimit, type Failure, type SeekFailure } from '../patch-error.ts'
import { passes, SearchableFile } from '../match/passes.ts'
import { seekChunk, type Cursor, type Match } from '../match/seek.ts'
import { prepareChunks, type PreparedChunk } from '../match/prepare-chunks.ts'
import type { Mode, UpdateFile } from '../patch.ts'
import type { LineTable } from '../text/line-table.ts'
import { diagnose } from './diagnose-miss.ts'
import { editLines, editsOf, withoutTrailingEmpty, type LineEdit } from './edit-lines.ts'
import type { WarningList } from './warning-list.ts'

/** The context in which an update is planned. `updateLines` adds warnings and failures to its lists. */
export type UpdateContext = {
  readonly mode: Mode
  readonly refuseAmbiguous: boolean
  readonly warnings: WarningList
  readonly failures: Failure[]
  /** Returns the contents of the other files that the patch updates. If a chunk doesn't match, they are searched for its lines, to explain why. */
  readonly otherFiles: (path: string) => readonly { readonly path: string; readonly bytes: Buffer }[]
}

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
  let cursor: Cursor = { line: 0, changed: 0 }
  for (const [index, chunk] of prepared.entries()) {
    if (context.failures.length > failureLimit) return undefined
    const filling = context.mode === 'strict' ? undefined : fillEmptyFile(file.table, chunk)
    if (filling !== undefined) {
      const { line: patchLine } = chunk.chunk
      const message = `${path}, hunk ${context.hunk}, chunk ${index + 1}: the file is empty, and was treated as one blank line`
      context.warnings.add({ code: 'empty-file', message, path, patchLine })
      atEnd.push(filling)
      continue
    }
    const match = seekChunk(file, chunk, cursor, context.mode, context.warnings.isFull ? 2 : undefined)
    const where = {
      path,
      absolute: context.absolute,
      hunk: context.hunk,
      chunk: index + 1,
      patchLine: chunk.chunk.line,
    }
    switch (match.type) {
      case 'insert-at-end': {
        const { count } = file.table
        const added = chunk.lines.filter(({ mark }) => mark === 'added')
        const { body, finalNewline } = chunk.chunk
        atEnd.push({ from: count, to: count, body, added, finalNewline })
        continue
      }
      case 'anchor-missing':
      case 'lines-missing':
        context.failures.push({
          ...where,
          ...(context.failures.length < explainedFailures
            ? diagnose(file, chunk, match, cursor, context.mode, () => context.otherFiles(path))
            : leaveUnexplained(chunk, match)),
        })
        continue
      case 'found':
        break
      default:
        return match satisfies never
    }
    if (match.ambiguous.length > 0 && context.refuseAmbiguous) {
      context.failures.push({ ...where, ...ambiguity(chunk, match) })
      continue
    }
    for (const warning of warningsOf(match, where)) context.warnings.add(warning)
    const { finalNewline } = chunk.chunk
    const kept = keptLines(chunk, match.length)
    const chunkEdits = editsOf(chunk.chunk.body, kept, match.line, match.length).map((edit) =>
      finalNewline === undefined ? edit : { ...edit, finalNewline },
    )
    edits.push(...chunkEdits)
    const lastChanged = chunkEdits.at(-1)
    cursor = {
      line: Math.max(cursor.line, match.line + match.length),
      changed: Math.max(cursor.changed, lastChanged?.to ?? match.line),
    }
  }
  return editLines(file.table, [...edits, ...atEnd])
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

/** The maximum number of unmatched chunks that are explained. A patch for a different tree can have a million of them, and explaining the first ones is enough. */
const explainedFailures = 25

function leaveUnexplained(
  { chunk }: PreparedChunk,
  { type }: Match,
): Pick<SeekFailure, 'code' | 'expected' | 'causes'> {
  if (type === 'anchor-missing') return { code: 'anchor-not-found', expected: [], causes: [] }
  return { code: 'lines-not-found', expected: oldLines(chunk.body), causes: [] }
}

function oldLines(body: Uint8Array): readonly string[] {
  const lines = Buffer.from(body.buffer, body.byteOffset, body.length).toString().split('\n').slice(0, -1)
  return lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
}

function keptLines(chunk: PreparedChunk, length: number): PreparedChunk['lines'] {
  const leftOut = chunk.oldTo - chunk.oldFrom - length
  return leftOut === 0 ? chunk.lines : withoutTrailingEmpty(chunk.lines, leftOut)
}

type Where = Pick<SeekFailure, 'path' | 'absolute' | 'hunk' | 'chunk' | 'patchLine'>
type FoundMatch = Extract<Match, { type: 'found' }>

function ambiguity({ chunk }: PreparedChunk, { ambiguous }: FoundMatch): Omit<SeekFailure, keyof Where> {
  const fileLines = ambiguous.map((line) => line + 1)
  return { code: 'ambiguous', expected: oldLines(chunk.body), causes: [], fileLines }
}

const passNames = {
  exact: '',
  'trimmed-end': 'white space at the end of lines',
  trimmed: 'indentation',
  punctuation: 'typographic punctuation',
}

function warningsOf(match: FoundMatch, { path, hunk, chunk, patchLine }: Where): readonly Warning[] {
  if (match.pass === 'exact' && match.ambiguous.length === 0 && !match.sharesContext) return []
  const warnings: Warning[] = []
  const place = `${path}, hunk ${hunk}, chunk ${chunk}`
  const fileLine = match.line + 1
  if (passes.indexOf(match.pass) > 0) {
    const message = `${place}: matched at line ${fileLine} only after ignoring ${passNames[match.pass]}`
    warnings.push({ code: 'fuzzy-match', message, path, patchLine, fileLines: [fileLine] })
  }
  if (match.ambiguous.length > 0) {
    const lines = match.ambiguous.map((line) => line + 1)
    const listed = lines.length > 20 ? `${lines.slice(0, 20).join(', ')} and more` : lines.join(', ')
    const message = `${place}: fits at lines ${listed}; line ${fileLine} was used (to choose another place, add an "@@" line)`
    warnings.push({ code: 'ambiguous-match', message, path, patchLine, fileLines: lines })
  }
  if (match.sharesContext) {
    const message = `${place}: matched at line ${fileLine} by reusing context of the previous chunk`
    warnings.push({ code: 'shared-context', message, path, patchLine, fileLines: [fileLine] })
  }
  return warnings
}
