/** So much of a message's text tells what the rest would; a line of a file can have ten megabytes. */
export function clip(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}… (${text.length - limit} more characters)` : text
}

/** The first lines of many, each clipped, and how many there are besides. */
export function clipLines(lines: readonly string[], limit: number): readonly string[] {
  const shown = lines.slice(0, limit).map((line) => clip(line, 1000))
  return lines.length > limit ? [...shown, `  (${lines.length - limit} more lines)`] : shown
}
