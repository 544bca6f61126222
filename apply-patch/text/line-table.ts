/** The offsets of a file's lines. Nothing is decoded or copied. */
export type LineTable = {
  readonly bytes: Buffer
  /** The number of lines. An empty file has none, and a final line ending doesn't start another line. */
  readonly count: number
  /** The start of each line, and, at the index `count`, the end of the file. The byte-order mark belongs to the first line. */
  readonly starts: Uint32Array
  /** The line ending for new lines: the first LF or CRLF in the file. If there is neither: a lone CR if there is one, otherwise LF. */
  readonly usualEnding: '\n' | '\r\n' | '\r'
  /** 3 if the file starts with a UTF-8 byte-order mark, else 0. */
  readonly markLength: 0 | 3
}

/** Finds the lines of a file. LF, CRLF and a lone CR end a line, even if they are mixed, as in Codex 0.169. */
export function findLines(bytes: Buffer): LineTable {
  const next = hasLoneCarriageReturn(bytes) ? nextOfAny : nextLine
  const markLength = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  let starts = new Uint32Array(Math.max(16, bytes.length >>> 5))
  let count = 0
  // A file with only a byte-order mark has no line yet.
  let position = bytes.length === markLength ? markLength : 0
  while (position < bytes.length) {
    if (count + 1 >= starts.length) {
      const larger = new Uint32Array(starts.length * 2)
      larger.set(starts)
      starts = larger
    }
    starts[count++] = position
    position = next(bytes, position)
  }
  starts[count] = bytes.length
  return { bytes, count, starts, usualEnding: usualEndingOf(bytes), markLength }
}

/** Finds the start of the next line. The first bytes are searched in a plain loop, because a native call would cost more for lines of usual length. */
function nextLine(bytes: Buffer, from: number): number {
  const near = Math.min(from + 200, bytes.length)
  for (let at = from; at < near; at++) if (bytes[at] === 10) return at + 1
  const found = near === bytes.length ? -1 : bytes.indexOf(10, near)
  return found === -1 ? bytes.length : found + 1
}

/** The start of the next line in a file in which lone carriage returns end lines too. */
function nextOfAny(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === 10 || (bytes[at] === 13 && bytes[at + 1] !== 10)) return at + 1
  }
  return bytes.length
}

function hasLoneCarriageReturn(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(13); at !== -1; at = bytes.indexOf(13, at + 2)) if (bytes[at + 1] !== 10) return true
  return false
}

function usualEndingOf(bytes: Buffer): LineTable['usualEnding'] {
  const at = bytes.indexOf(10)
  if (at === -1) return bytes.includes(13) ? '\r' : '\n'
  return at > 0 && bytes[at - 1] === 13 ? '\r\n' : '\n'
}

/** The offset at which the text of a line starts. On the first line, this is after the byte-order mark. */
export function textStart(table: LineTable, line: number): number {
  return line === 0 ? table.markLength : (table.starts[line] ?? table.bytes.length)
}

/** The offset at which the text of a line ends, which is before its line ending. */
export function textEnd(table: LineTable, line: number): number {
  const { bytes } = table
  let end = table.starts[line + 1] ?? bytes.length
  const start = table.starts[line] ?? end
  if (end > start && bytes[end - 1] === 10) end--
  if (end > start && bytes[end - 1] === 13) end--
  return Math.max(end, textStart(table, line))
}

/** A line's text for messages. Bytes that are not UTF-8 become replacement characters. */
export function lineText(table: LineTable, line: number): string {
  return table.bytes.toString('utf8', textStart(table, line), textEnd(table, line))
}

/** The characters that end a line; empty if the last line of a file has no line ending. */
export type LineEnding = '\n' | '\r\n' | '\r' | ''

/** The characters that end a line: LF, CRLF, a lone CR, or none. */
export function lineEnding(table: LineTable, line: number): LineEnding {
  const length = (table.starts[line + 1] ?? table.bytes.length) - textEnd(table, line)
  if (length === 0) return ''
  return length === 2 ? '\r\n' : table.bytes[textEnd(table, line)] === 10 ? '\n' : '\r'
}
