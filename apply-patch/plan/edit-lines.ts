import type { Content } from '../change-set.ts'
import { lineEnding, textStart, type LineEnding, type LineTable } from '../text/line-table.ts'
import type { BodyLine } from '../match/prepare-chunks.ts'

/**
 * The replacement of the lines from `from` up to, but not including, `to` by the added lines of a body. If `from` equals `to`, the added lines are inserted
 * before `from`.
 */
export type LineEdit = {
  readonly from: number
  readonly to: number
  readonly body: Uint8Array
  readonly added: readonly BodyLine[]
  /** Whether the file's last line ends with a newline once this edit has changed it. If undefined, the file ends as it did before. */
  readonly finalNewline?: 'absent' | 'present' | undefined
}

/** The edits of a chunk that matched at a line, one for each run of changed lines. Context lines stay as they are in the file. */
export function editsOf(
  body: Uint8Array,
  lines: readonly BodyLine[],
  line: number,
  length: number,
): readonly LineEdit[] {
  const edits: LineEdit[] = []
  const end = line + length
  let from = line
  let to = line
  let added: BodyLine[] = []
  const flush = (): void => {
    if (to > from || added.length > 0) edits.push({ from, to, body, added })
    added = []
  }
  for (const current of lines) {
    if (current.mark === 'added') added.push(current)
    // Old lines after the end of the match are trailing empty lines that were left out of the match.
    else if (to >= end) continue
    else if (current.mark === 'removed') to++
    else {
      flush()
      from = to + 1
      to = from
    }
  }
  flush()
  return edits
}

/**
 * The lines of a body without some of its trailing empty lines. `leftOut` is the number of trailing empty old lines that were left out of the match; for each
 * of them, one trailing empty added line is left out too, if there is one.
 */
export function withoutTrailingEmpty(lines: readonly BodyLine[], leftOut: number): readonly BodyLine[] {
  const kept = [...lines]
  for (let count = leftOut; count > 0; count--) {
    const last = kept.findLastIndex(({ mark }) => mark === 'added')
    const line = kept[last]
    // If an empty context line follows, it was already left out together with the old lines.
    if (line === undefined || line.start !== line.end || kept.slice(last + 1).some(({ mark }) => mark === 'context'))
      break
    kept.splice(last, 1)
  }
  return kept
}

/**
 * The content of a file after some edits, which must be in the order of the lines that they change. Unchanged ranges of the file are not copied.
 *
 * An added line gets the line ending of a line that it replaces, or, if it replaces none, that of its neighbour. Unless an edit says otherwise, the
 * last line of the file has a line ending after the edits if it had one before, and none if it had none.
 *
 * @returns undefined if nothing changes
 */
export function editLines(table: LineTable, edits: readonly LineEdit[]): Content | undefined {
  const { bytes, count } = table
  const pieces: Uint8Array[] = []
  // One buffer is used for all edits, because a big file can have thousands of edits.
  const added = Buffer.allocUnsafe(edits.reduce((sum, edit) => sum + mostBytes(edit), 0))
  let used = 0
  const isUnterminated = count > 0 && lineEnding(table, count - 1) === ''
  let copied = 0
  let touchesEnd = false
  let finalNewline: LineEdit['finalNewline']
  let hasChanged = false
  for (const edit of edits) {
    const start = edit.from >= count ? bytes.length : textStart(table, edit.from)
    const end = edit.to > edit.from ? (table.starts[edit.to] ?? bytes.length) : start
    const afterUnterminated = isUnterminated && edit.from === count
    const from = used
    used = writeEnding(added, used, afterUnterminated ? insertedEnding(table, count - 1) : '')
    used = writeAdded(table, edit, added, used)
    touchesEnd ||= edit.to === count
    if (edit.to === count) finalNewline = edit.finalNewline ?? finalNewline
    if (used - from === end - start && bytes.compare(added, from, used, start, end) === 0) continue
    if (start > copied) pieces.push(bytes.subarray(copied, start))
    if (used > from) pieces.push(added.subarray(from, used))
    copied = end
    hasChanged = true
  }
  const dropsEnding = touchesEnd && (finalNewline === 'absent' || (isUnterminated && finalNewline === undefined))
  if (!hasChanged && (isUnterminated || !dropsEnding)) return undefined
  if (copied < bytes.length) pieces.push(bytes.subarray(copied))
  // Without its line ending, an empty last line would not be a line.
  if (dropsEnding && (finalNewline === 'absent' || !endsInBlankLine(pieces))) dropFinalEnding(pieces)
  // V8 reserves room for 17 elements in a growing array, which is too much for 20,000 files. A copy has only the room that it needs.
  return dropsEnding && isSame(pieces, bytes) ? undefined : pieces.slice()
}

function isSame(pieces: readonly Uint8Array[], bytes: Buffer): boolean {
  return pieces.reduce((sum, piece) => sum + piece.length, 0) === bytes.length && Buffer.concat(pieces).equals(bytes)
}

/** The maximum number of bytes that the added lines of an edit can need, including their line endings and that of the previous line. */
function mostBytes({ added }: LineEdit): number {
  let size = 2
  for (const { start, end } of added) size += end - start + 2
  return size
}

/** Writes the added lines with their line endings. @returns the position after them */
function writeAdded(table: LineTable, { from, to, body, added }: LineEdit, text: Buffer, position: number): number {
  let at = position
  for (let index = 0; index < added.length; index++) {
    const { start, end, ending } = added[index] ?? { start: 0, end: 0 }
    // For a few bytes, this loop is faster than a native call.
    if (end - start > 200) text.set(body.subarray(start, end), at)
    else for (let offset = 0; offset < end - start; offset++) text[at + offset] = body[start + offset] ?? 0
    at += end - start
    const replaces = from + index < to
    // The last added line, and each added line beyond the number of replaced lines, takes its line ending from the last replaced line.
    const isLast = index === added.length - 1 || !replaces
    const model = to === from ? Math.max(0, from - 1) : isLast ? to - 1 : from + index
    const usual = replaces ? neighbourEnding(table, model) : insertedEnding(table, model)
    at = writeEnding(text, at, ending ?? usual)
  }
  return at
}

/** Writes a line ending. @returns the position after it */
function writeEnding(text: Buffer, at: number, ending: LineEnding): number {
  for (let index = 0; index < ending.length; index++) text[at + index] = ending.charCodeAt(index)
  return at + ending.length
}

/** The line ending of a line. If the file's last line has none, it counts as having that of the previous line, or LF if there is no such line. */
function neighbourEnding(table: LineTable, line: number): LineEnding {
  if (table.count === 0) return '\n'
  const own = lineEnding(table, line)
  if (own !== '') return own
  const before = line > 0 ? lineEnding(table, line - 1) : ''
  return before === '' ? '\n' : before
}

/** The line ending of an inserted line: the neighbour's line ending, unless that is a lone CR. In that case, it is the file's usual one. */
function insertedEnding(table: LineTable, neighbour: number): LineEnding {
  const own = neighbourEnding(table, neighbour)
  return own === '\r' ? table.usualEnding : own
}

function endsInBlankLine(pieces: readonly Uint8Array[]): boolean {
  const [last, before] = [pieces.at(-1), pieces.at(-2)]
  const end = last === undefined ? 0 : last.length - (last.at(-1) === 10 && last.at(-2) === 13 ? 2 : 1)
  const above = end > 0 ? last?.[end - 1] : before?.at(-1)
  return above === 10 || above === 13
}

function dropFinalEnding(pieces: Uint8Array[]): void {
  const last = pieces.at(-1)
  const final = last?.at(-1)
  if (last === undefined || (final !== 10 && final !== 13)) return
  const isPair = final === 10 && last.at(-2) === 13
  const kept = last.subarray(0, last.length - (isPair ? 2 : 1))
  pieces.splice(-1, 1, ...(kept.length > 0 ? [kept] : []))
}
