import { trim } from '../text/trim.ts'
import { below, nothingAbove, operationAt, type Above, type TokenKind } from './above.ts'
import { gitHeaders, type Operation } from './git-headers.ts'
import { lastLineStart, lineEnd } from './line-end.ts'
import { isMarker } from './markers.ts'

/** A run of patch lines. `end` is the offset after the last line's LF. */
export type RunToken = {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  readonly line: number
  /** The lines in this run that don't have the form of body lines; undefined if there are none. */
  readonly strays?: readonly StrayLine[]
}

/**
 * A line among body lines that isn't a body line: an empty line that lacks its `+`, a line of context that lacks its space, or the line
 * `\ No newline at end of file` of a diff.
 */
type StrayLine = {
  readonly kind: 'blank' | 'unmarked' | 'no-newline'
  readonly start: number
  readonly end: number
  readonly line: number
}

const LF = 10
const SPACE = 32
const PLUS = 43
const MINUS = 45
const AT = 64
const STAR = 42
const BACKSLASH = 92

const headers: readonly (readonly [TokenKind, string])[] = [
  ['add', '*** Add File: '],
  ['delete', '*** Delete File: '],
  ['update', '*** Update File: '],
]

/**
 * Cuts a patch into tokens, one with each call; undefined at its end. Lines of the same kind are one token, so that a body of ten megabytes is one
 * object.
 */
export function scanPatch(bytes: Buffer, from: number, to: number, strict: boolean): () => RunToken | undefined {
  let above = nothingAbove
  let operation: Operation = { adds: false, paths: [] }
  let line = 1
  let position = from
  // The End marker is the last line, even if it is indented like a line of context.
  const last = lastLineStart(bytes, from, to)
  const stop = last > from && isMarker(bytes, last, to, 'end', strict) ? last : to
  const take = (kind: TokenKind, end: number, lines: number, strays?: readonly StrayLine[]): RunToken => {
    const token = { kind, start: position, end, line, ...(strays && { strays }) }
    above = below(above, kind)
    if (!strict && above.isAtTop && kind !== 'blank')
      operation = operationAt(operation, kind, bytes.toString('utf8', position, end))
    position = end
    line += lines
    return token
  }
  return () => {
    if (position >= to) return undefined
    if (position === stop) return take('end', to, 1)
    const git = strict || !above.isAtTop ? undefined : gitHeaders(bytes, position, stop, operation)
    if (git !== undefined) return take('git-header', git.end, git.lines)
    const end = lineEnd(bytes, position, stop)
    if (position === from && isMarker(bytes, position, end, 'begin', strict)) return take('begin', end, 1)
    const kind = kindOfLine(bytes, position, end, above, strict)
    if (kind !== 'body' && kind !== 'added' && kind !== 'removed') return take(kind, end, 1)
    const mark = kind === 'body' ? undefined : bytes[position]
    const run = strict ? bodyEnd(bytes, position, stop, mark, true) : wholeBody(bytes, position, stop, mark, line)
    return take(kind, run.end, run.lines, run.strays)
  }
}

/**
 * The kind of a line, which depends on the lines above it: in lenient mode, a header with leading spaces counts as a header, except in an update, where
 * it is a line of context.
 */
export function kindOfLine(bytes: Buffer, start: number, end: number, above: Above, strict: boolean): TokenKind {
  const first = bytes[start]
  if (!above.inUpdate) {
    if (first === PLUS) return 'added'
    if (first === MINUS) return 'removed'
  } else if (isBodyStart(first)) return 'body'
  else if (first === LF) {
    // Blank lines before a chunk's first line don't belong to the chunk; later ones are empty context lines.
    return !strict && (above.last === 'body' || above.last === 'anchor') ? 'body' : 'blank'
  } else if (!strict && canLackMark(bytes, start) && canPrecedeUnmarked(above.last)) return 'body'
  return classify(bytes, start, end, above, strict)
}

/** Whether a line of an update that begins with none of the marks can be a line of context without its mark: it must not look like part of the format. */
function canLackMark(bytes: Buffer, at: number): boolean {
  const first = bytes[at]
  if (isBodyStart(first) || first === LF || first === BACKSLASH) return false
  return !(
    (first === STAR && bytes[at + 1] === STAR && bytes[at + 2] === STAR) ||
    (first === AT && bytes[at + 1] === AT)
  )
}

function canPrecedeUnmarked(kind: TokenKind | undefined): boolean {
  return ['anchor', 'body', 'git-header', 'update', 'move', 'late-move'].includes(kind ?? '')
}

function isBodyStart(byte: number | undefined): boolean {
  return byte === SPACE || byte === PLUS || byte === MINUS
}

type BodyRun = { readonly end: number; readonly lines: number; readonly strays?: readonly StrayLine[] }

/** Finds the end of a run of lines with the given mark, which may be interrupted by stray lines. */
function wholeBody(bytes: Buffer, from: number, to: number, mark: number | undefined, line: number): BodyRun {
  let { end, lines } = bodyEnd(bytes, from, to, mark, false)
  const strays: StrayLine[] = []
  for (let found = straysAt(bytes, end, to, mark); found.length > 0; found = straysAt(bytes, end, to, mark)) {
    for (const [kind, start, behind] of found) {
      strays.push({ kind, start, end: behind, line: line + lines })
      lines++
      end = behind
    }
    const more = bodyEnd(bytes, end, to, mark, false)
    end = more.end
    lines += more.lines
  }
  return { end, lines, ...(strays.length > 0 && { strays }) }
}

type Stray = readonly [kind: StrayLine['kind'], start: number, end: number]

/** Whether a line is a diff's marker for a line without a newline. */
export function isRemark(line: string): boolean {
  return /^\\ ?no newline\b/i.test(line)
}

/**
 * The stray lines after a run that belong to it: a diff's marker for the run's last line (`\ No newline at end of file`), or blank lines that are
 * followed by more lines of the run.
 */
function straysAt(bytes: Buffer, from: number, to: number, mark: number | undefined): readonly Stray[] {
  if (bytes[from] === BACKSLASH) {
    const end = lineEnd(bytes, from, to)
    const text = bytes.toString('latin1', from, Math.min(end, from + 80))
    return from < to && isRemark(text) ? [['no-newline', from, end]] : []
  }
  if (mark === undefined && from < to && canLackMark(bytes, from)) return [['unmarked', from, lineEnd(bytes, from, to)]]
  if (mark !== PLUS) return []
  const blanks: Stray[] = []
  let at = from
  while (at < to) {
    const end = lineEnd(bytes, at, to)
    if (!isBlank(bytes, at, end)) break
    blanks.push(['blank', at, end])
    at = end
  }
  // Blank lines belong to an operation only if a line with a `+` follows them.
  return at < to && bytes[at] === PLUS ? blanks : []
}

/**
 * Finds the end of a run and counts its lines. The run consists of lines that all start with `mark`, or, if no mark is given, of lines of any kind that a chunk
 * can contain: in strict mode, no empty ones.
 */
function bodyEnd(bytes: Buffer, from: number, to: number, mark: number | undefined, strict: boolean): BodyRun {
  let lines = 0
  let position = from
  while (position < to) {
    const first = bytes[position]
    if (mark === undefined ? !isBodyStart(first) && (strict || first !== LF) : first !== mark) break
    let end = position
    while (end < to && bytes[end] !== LF) end++
    position = end < to ? end + 1 : to
    lines++
  }
  return { end: position, lines }
}

function classify(bytes: Buffer, start: number, end: number, { inUpdate, last }: Above, strict: boolean): TokenKind {
  const first = bytes[start]
  if (first === AT && bytes[start + 1] === AT) {
    const text = bytes.toString('latin1', start + 2, Math.min(end, start + 4)).replace(/\n.*$/s, '')
    const isAnchor = strict ? text.length === 2 && text[0] === ' ' : text[0] === ' ' || isBlank(bytes, start + 2, end)
    if (text === '' || isAnchor) return 'anchor'
  }
  if (first === STAR || !inUpdate) {
    const text = strict
      ? bytes.toString('utf8', start, end).replace(/\n$/, '')
      : trim(bytes.toString('utf8', start, end))
    if (text === '') return 'blank'
    for (const [kind, prefix] of headers) if (text.startsWith(prefix) && hasPath(text, prefix)) return kind
    if (text.startsWith('*** Move to: ') && hasPath(text, '*** Move to: '))
      return last === 'update' ? 'move' : 'late-move'
    if (text.startsWith('*** Environment ID:')) return 'environment'
    if (first === STAR && (strict ? text : text.trimEnd()) === '*** End of File')
      return inUpdate ? 'end-of-file' : 'end-of-added'
  }
  return 'other'
}

function hasPath(text: string, prefix: string): boolean {
  return trim(text).length > prefix.length
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== SPACE && bytes[at] !== LF && bytes[at] !== 9) return false
  return true
}
