import { trim } from '../text/trim.ts'

/** The kind of a line of a patch, or of a run of lines. */
export type TokenKind =
  | 'environment'
  | 'add'
  | 'delete'
  | 'update'
  | 'move'
  | 'anchor'
  | 'body'
  | 'added'
  | 'removed'
  | 'end-of-file'
  | 'blank'
  | 'other'

/** A run of patch lines. `end` is the offset after the last line's LF. */
export type RunToken = {
  readonly kind: TokenKind
  readonly start: number
  readonly end: number
  readonly line: number
  /** The lines in this run that don't have the form of body lines; undefined if there are none. */
  readonly strays?: readonly StrayLine[]
}

/** A line among body lines that isn't a body line: an empty line that lacks its `+`, or the line `\ No newline at end of file` of a diff. */
type StrayLine = {
  readonly kind: 'blank' | 'no-newline'
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
 * Splits the lines between `*** Begin Patch` and `*** End Patch` into tokens. It yields one array for each operation: the header's token first, then
 * the other tokens. Before these arrays, it yields one with the tokens before the first header, which may be empty. Yielding one operation at a time
 * keeps the number of objects in memory small, even for a body of ten megabytes or for a million operations.
 *
 * The kind of a line depends on its position: in lenient mode, a header with leading spaces counts as a header, except in an update, where it is a
 * context line.
 */
export function* scanOperations(
  bytes: Buffer,
  from: number,
  to: number,
  firstLine: number,
  strict: boolean,
): Generator<readonly RunToken[]> {
  let section: 'outside' | 'add' | 'update' = 'outside'
  let tokens: RunToken[] = []
  let line = firstLine
  let position = from
  while (position < to) {
    const end = lineEnd(bytes, position, to)
    const first = bytes[position]
    if (section === 'update' ? isBodyStart(first) || first === LF : first === PLUS || first === MINUS) {
      // Blank lines before a chunk's first line don't belong to the chunk; later ones are empty context lines.
      const last = tokens.at(-1)
      if (first === LF && section === 'update' && last?.kind !== 'body' && last?.kind !== 'anchor') {
        tokens.push({ kind: 'blank', start: position, end, line })
        position = end
        line++
        continue
      }
      const mark = section === 'update' ? undefined : first
      const run = strict ? bodyEnd(bytes, position, to, mark) : wholeBody(bytes, position, to, mark, line)
      const kind = section === 'update' ? 'body' : first === PLUS ? 'added' : 'removed'
      tokens.push({ kind, start: position, end: run.end, line, ...(run.strays && { strays: run.strays }) })
      position = run.end
      line += run.lines
      continue
    }
    const kind = classify(bytes, position, end, section === 'update', strict)
    if (kind === 'add' || kind === 'delete' || kind === 'update') {
      yield tokens
      tokens = []
      section = kind === 'update' ? 'update' : 'add'
    }
    tokens.push({ kind, start: position, end, line })
    position = end
    line++
  }
  yield tokens
}

/** The offset after the LF that ends the line at `position`; `to` if the line has no LF before `to`. */
function lineEnd(bytes: Buffer, position: number, to: number): number {
  const found = bytes.indexOf(LF, position)
  return found === -1 || found >= to ? to : found + 1
}

function isBodyStart(byte: number | undefined): boolean {
  return byte === SPACE || byte === PLUS || byte === MINUS
}

type BodyRun = { readonly end: number; readonly lines: number; readonly strays?: readonly StrayLine[] }

/** Finds the end of a run of lines with the given mark, which may be interrupted by stray lines. */
function wholeBody(bytes: Buffer, from: number, to: number, mark: number | undefined, line: number): BodyRun {
  let { end, lines } = bodyEnd(bytes, from, to, mark)
  const strays: StrayLine[] = []
  for (let found = straysAt(bytes, end, to, mark); found.length > 0; found = straysAt(bytes, end, to, mark)) {
    for (const [kind, start, behind] of found) {
      strays.push({ kind, start, end: behind, line: line + lines })
      lines++
      end = behind
    }
    const more = bodyEnd(bytes, end, to, mark)
    end = more.end
    lines += more.lines
  }
  return { end, lines, ...(strays.length > 0 && { strays }) }
}

type Stray = readonly [kind: StrayLine['kind'], start: number, end: number]

/**
 * The stray lines after a run that belong to it: a diff's marker for the run's last line (`\ No newline at end of file`), or blank lines that are
 * followed by more lines of the run.
 */
function straysAt(bytes: Buffer, from: number, to: number, mark: number | undefined): readonly Stray[] {
  if (bytes[from] === BACKSLASH) {
    const end = lineEnd(bytes, from, to)
    const text = bytes.toString('latin1', from, Math.min(end, from + 80))
    return from < to && /^\\ ?no newline\b/i.test(text) ? [['no-newline', from, end]] : []
  }
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
 * can contain.
 */
function bodyEnd(bytes: Buffer, from: number, to: number, mark: number | undefined): BodyRun {
  let lines = 0
  let position = from
  while (position < to) {
    const first = bytes[position]
    if (mark === undefined ? !isBodyStart(first) && first !== LF : first !== mark) break
    let end = position
    while (end < to && bytes[end] !== LF) end++
    position = end < to ? end + 1 : to
    lines++
  }
  return { end: position, lines }
}

function classify(bytes: Buffer, start: number, end: number, inUpdate: boolean, strict: boolean): TokenKind {
  const first = bytes[start]
  if (
    first === AT &&
    bytes[start + 1] === AT &&
    (end - start <= 3 || bytes[start + 2] === SPACE || isBlank(bytes, start + 2, end))
  ) {
    return 'anchor'
  }
  if (first === STAR || !inUpdate) {
    const text = strict
      ? bytes.toString('utf8', start, end).replace(/\n$/, '')
      : trim(bytes.toString('utf8', start, end))
    if (text === '') return 'blank'
    for (const [kind, prefix] of headers) if (text.startsWith(prefix) && text.length > prefix.length) return kind
    if (text.startsWith('*** Move to: ') && text.length > 13) return 'move'
    if (text.startsWith('*** Environment ID:')) return 'environment'
    if (first === STAR && text.trimEnd() === '*** End of File') return 'end-of-file'
  }
  return 'other'
}

function isBlank(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] !== SPACE && bytes[at] !== LF && bytes[at] !== 9) return false
  return true
}
