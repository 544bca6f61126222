import { counted } from '../../core/text/counted.ts'

/** Decodes a file as text. Returns undefined if it is not UTF-8 or contains NUL, because then it is not text. A byte order mark is kept. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The lines of a text without their line endings. A line ending at the end of the text doesn't begin another line. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Numbers lines as the file tools show them: the number, a tab, the text. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${shorten(line)}`).join('\n')
}

/** The maximum number of characters of a line that are shown. Longer lines are shortened, because they are rarely source code. */
const longestLine = 2000

function shorten(line: string): string {
  return line.length <= longestLine
    ? line
    : `${line.slice(0, longestLine)} [… ${counted(line.length - longestLine, 'more character')}]`
}
