/** The text of a file, or undefined where it is not UTF-8 or holds NUL: then it is not text. A byte-order mark stays. */
export function textOf(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The lines of a text, without their ends. A final line end begins no further line. */
export function linesOf(text: string): readonly string[] {
  if (text === '') return []
  const lines = text.split(/\r\n|\n|\r/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** Lines with their numbers, as the file tools show them: number, a tab, text. */
export function numbered(lines: readonly string[], first: number): string {
  return lines.map((line, index) => `${String(first + index).padStart(6)}\t${shorten(line)}`).join('\n')
}

/** Longer lines are data, not source. */
const longestLine = 2000

function shorten(line: string): string {
  return line.length <= longestLine
    ? line
    : `${line.slice(0, longestLine)} [… ${line.length - longestLine} characters more]`
}
