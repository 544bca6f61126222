import type { AddFile, Chunk } from '../patch.ts'
import type { RunToken } from './scan-patch.ts'

const PLUS = 43
const MINUS = 45

/**
 * Returns a sequence of lines in the form that the format requires: blank lines get the `+` and lines of context the space that
 * they lack, and the markers `\ No newline at end of file` are left out.
 */
export function bodyOf(bytes: Buffer, { start, end, strays = [] }: RunToken): Buffer {
  if (strays.length === 0) return bytes.subarray(start, end)
  const pieces: Buffer[] = []
  let copied = start
  for (const stray of strays) {
    const given = { blank: '+\n', unmarked: ' ', 'no-newline': '' }[stray.kind]
    pieces.push(bytes.subarray(copied, stray.start), Buffer.from(given))
    copied = stray.kind === 'unmarked' ? stray.start : stray.end
  }
  return Buffer.concat([...pieces, bytes.subarray(copied, end)])
}

/** The lines of a chunk, by their index, that lack the mark of context; an empty object if there are none. */
export function unmarkedLines({ line, strays = [] }: RunToken): Pick<Chunk, 'unmarked'> {
  const remarks = (before: number): number =>
    strays.filter((stray) => stray.kind === 'no-newline' && stray.line < before).length
  const unmarked = strays.flatMap((stray) =>
    stray.kind === 'unmarked' ? [stray.line - line - remarks(stray.line)] : [],
  )
  return unmarked.length === 0 ? {} : { unmarked }
}

/** Returns `{ unterminated: true }` if a run of lines ends with the marker `\ No newline at end of file`; otherwise an empty object. */
export function unterminated(bytes: Buffer, run: RunToken | undefined): Pick<AddFile, 'unterminated'> {
  const last = run?.strays?.at(-1)
  return run !== undefined && last?.kind === 'no-newline' && last.end === run.end && marksOf(bytes, run).length > 0
    ? { unterminated: true }
    : {}
}

/**
 * What the markers `\ No newline at end of file` in a chunk say about its last line: `absent` if only the added line has no newline, `present` if
 * only the removed line has none. If neither has one, or if the line is context, the result is empty, because the chunk changes nothing about the
 * newline.
 */
export function finalNewline(bytes: Buffer, run: RunToken): Pick<Chunk, 'finalNewline'> {
  const marks = marksOf(bytes, run)
  const old = marks.some((mark) => mark !== PLUS)
  const added = marks.some((mark) => mark !== MINUS)
  return old === added ? {} : { finalNewline: added ? 'absent' : 'present' }
}

/** The marks (`+`, `-` or a space) of the lines that precede a marker `\ No newline at end of file`. */
function marksOf(bytes: Buffer, { start, strays = [] }: RunToken): readonly (number | undefined)[] {
  return strays
    .filter(({ kind, start: at }) => kind === 'no-newline' && at > start)
    .map((stray) => bytes[bytes.lastIndexOf(10, stray.start - 2) + 1])
}
