/** A text that was made to fit. */
type Truncated = {
  readonly text: string
  /** UTF-16 units that were left out; 0 when the text is whole. */
  readonly omitted: number
}

/**
 * Cuts the middle out of a text that is too long: what a command says first and last is what matters. The cut falls on
 * line ends where lines are short enough, never inside a surrogate pair, and a marker says how much is gone.
 *
 * @param limit at most this many UTF-16 units of the text stay, marker not counted
 * @param whereWhole what the marker says about where the whole text is, e.g. a path
 */
export function truncateMiddle(text: string, limit: number, whereWhole?: string): Truncated {
  if (text.length <= limit) return { text, omitted: 0 }
  const half = Math.floor(limit / 2)
  const head = text.slice(0, headEnd(text, half))
  const tail = text.slice(tailStart(text, text.length - half))
  const omitted = text.length - head.length - tail.length
  const lines = countLines(text.slice(head.length, text.length - tail.length))
  const where = whereWhole === undefined ? '' : `; the whole output is in ${whereWhole}`
  return { text: `${head}\n[... ${omitted} characters, ${lines} lines left out${where} ...]\n${tail}`, omitted }
}

function headEnd(text: string, at: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1
  const end = at - line < at / 4 && line > 0 ? line : at
  return isLowSurrogate(text, end) ? end - 1 : end
}

function tailStart(text: string, at: number): number {
  const line = text.indexOf('\n', at) + 1
  const start = line > 0 && line - at < (text.length - at) / 4 ? line : at
  return isLowSurrogate(text, start) ? start + 1 : start
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
