/** Where the lines of a file lie in its bytes. Nothing is decoded or copied. */
export type LineTable = {
  readonly bytes: Buffer
  /** How many lines; a file of no bytes has none, and a final line end starts no line. */
  readonly count: number
  /** Start of each line, and at `count` the end of the file. The byte-order mark belongs to the first line. */
  readonly starts: Uint32Array
  /** The byte that ends lines: LF, or CR in a file that has no LF. */
  readonly terminator: 10 | 13
  /** 3 where the file starts with a UTF-8 byte-order mark, else 0. */
  readonly markLength: 0 | 3
}

/** Finds the lines of a file. A lone CR ends a line only in a file without any LF; else it is text. */
export function findLines(bytes: Buffer): LineTable {
  const terminator = bytes.includes(10) || !bytes.includes(13) ? 10 : 13
  const markLength = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? 3 : 0
  let starts = new Uint32Array(Math.max(16, bytes.length >>> 5))
  let count = 0
  // A file of nothing but a byte-order mark has no line yet.
  let position = bytes.length === markLength ? markLength : 0
  while (position < bytes.length) {
    if (count + 1 >= starts.length) {
      const larger = new Uint32Array(starts.length * 2)
      larger.set(starts)
      starts = larger
    }
    starts[count++] = position
    position = nextLine(bytes, terminator, position)
  }
  starts[count] = bytes.length
  return { bytes, count, starts, terminator, markLength }
}

/** A loop for lines as people write them: asking the system costs more than such a line is long. */
function nextLine(bytes: Buffer, terminator: number, from: number): number {
  const near = Math.min(from + 200, bytes.length)
  for (let at = from; at < near; at++) if (bytes[at] === terminator) return at + 1
  const found = near === bytes.length ? -1 : bytes.indexOf(terminator, near)
  return found === -1 ? bytes.length : found + 1
}

/** Where the text of a line starts: after the byte-order mark, on the first. */
export function textStart(table: LineTable, line: number): number {
  return line === 0 ? table.markLength : (table.starts[line] ?? table.bytes.length)
}

/** Where the text of a line ends: before its line end. */
export function textEnd(table: LineTable, line: number): number {
  const { bytes, terminator } = table
  let end = table.starts[line + 1] ?? bytes.length
  const start = table.starts[line] ?? end
  if (end > start && bytes[end - 1] === terminator) {
    end--
    if (terminator === 10 && end > start && bytes[end - 1] === 13) end--
  }
  return Math.max(end, textStart(table, line))
}

/** A line's text for messages. Bytes that are not UTF-8 become replacement characters. */
export function lineText(table: LineTable, line: number): string {
  return table.bytes.toString('utf8', textStart(table, line), textEnd(table, line))
}

/** How a line ends; nothing at the end of the file. */
export type LineEnding = '\n' | '\r\n' | '\r' | ''

/** How a line ends. */
export function lineEnding(table: LineTable, line: number): LineEnding {
  const length = (table.starts[line + 1] ?? table.bytes.length) - textEnd(table, line)
  if (length === 0) return ''
  return length === 2 ? '\r\n' : table.terminator === 10 ? '\n' : '\r'
}
