import { counted } from './counted.ts'

/** A text after truncation. */
type Truncated = {
  readonly text: string
  /** How many UTF-16 code units were left out; 0 if the text is complete. */
  readonly omitted: number
}

/** How much of an output is shown. Whichever limit is reached first applies. */
export type OutputLimit = {
  /**
   * The maximum number of tokens, which are counted approximately: four ASCII characters count as one token, and so do two characters of a script
   * such as Greek, Cyrillic or Arabic. A character of most other scripts counts as one token by itself.
   */
  readonly tokens: number
  readonly lines: number
}

/**
 * Cuts the middle out of a text that is too long, because a command's first and last lines matter most. Cuts between lines if they are
 * short enough, and never inside a surrogate pair. Inserts a marker that says how much is missing.
 *
 * @param limit how many UTF-16 code units of the text to keep at most, not counting the marker
 * @param whereWhole what the marker says about where the whole text is, e.g. a path
 */
export function truncateMiddle(text: string, limit: number, whereWhole?: string): Truncated {
  if (text.length <= limit) return { text, omitted: 0 }
  const half = Math.floor(limit / 2)
  return cut(text, half, text.length - half, whereWhole)
}

/** Whether an output is short enough to be shown whole. */
export function fits(text: string, { tokens, lines }: OutputLimit): boolean {
  return (
    unitsFromStart(text, tokens) === text.length &&
    (text.length <= lines || countLines(text) + (text.endsWith('\n') ? 0 : 1) <= lines)
  )
}

/** Like `truncateMiddle`, but limits tokens and lines. Half of each limit applies to the start that is kept, and half to the end. */
export function truncateOutput(text: string, limit: OutputLimit, whereWhole?: string): Truncated {
  if (fits(text, limit)) return { text, omitted: 0 }
  const { tokens, lines } = limit
  const head = Math.min(unitsFromStart(text, tokens / 2), afterLines(text, Math.ceil(lines / 2)))
  const tail = Math.max(unitsFromEnd(text, tokens / 2), beforeLines(text, Math.floor(lines / 2)))
  return cut(text, head, Math.max(head, tail), whereWhole)
}

function cut(text: string, headAt: number, tailAt: number, whereWhole: string | undefined): Truncated {
  const head = text.slice(0, headEnd(text, headAt))
  const tail = text.slice(tailStart(text, tailAt))
  const omitted = text.length - head.length - tail.length
  const lines = countLines(text.slice(head.length, text.length - tail.length))
  const before = countLines(head)
  const place = head === '' || head.endsWith('\n') ? `after line ${before}` : `from within line ${before + 1}`
  const where = whereWhole === undefined ? '' : `; the whole output is in ${whereWhole}`
  return {
    text: `${head}\n[... ${counted(omitted, 'character')}, ${counted(lines, 'line')} left out ${place}${where} ...]\n${tail}`,
    omitted,
  }
}

function headEnd(text: string, at: number): number {
  const line = text.lastIndexOf('\n', at - 1) + 1
  const end = at - line < at / 4 && line > 0 ? line : at
  return isLowSurrogate(text, end) ? end - 1 : end
}

function tailStart(text: string, at: number): number {
  if (text[at - 1] === '\n') return at
  const line = text.indexOf('\n', at) + 1
  const start = line > 0 && line - at < (text.length - at) / 4 ? line : at
  return isLowSurrogate(text, start) ? start + 1 : start
}

function isLowSurrogate(text: string, index: number): boolean {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff
}

/** Returns the weight of a UTF-16 code unit, in quarters of a token. */
function weightAt(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return unit < 0x80 ? 1 : unit < 0x800 ? 2 : 4
}

/** Returns how many UTF-16 code units, counted from the start, fit into `tokens` tokens. */
function unitsFromStart(text: string, tokens: number): number {
  if (text.length <= tokens) return text.length
  let left = tokens * 4
  let at = 0
  while (at < text.length && (left -= weightAt(text, at)) >= 0) at++
  return at
}

/** Returns the offset at which the last `tokens` tokens begin. */
function unitsFromEnd(text: string, tokens: number): number {
  let left = tokens * 4
  let at = text.length
  while (at > 0 && (left -= weightAt(text, at - 1)) >= 0) at--
  return at
}

/** Returns the offset at which the first `lines` lines end. */
function afterLines(text: string, lines: number): number {
  let at = 0
  for (let line = 0; line < lines; line++) {
    const end = text.indexOf('\n', at)
    if (end === -1) return text.length
    at = end + 1
  }
  return at
}

/** Returns the offset at which the last `lines` lines begin. */
function beforeLines(text: string, lines: number): number {
  let at = text.length - (text.endsWith('\n') ? 1 : 0)
  for (let line = 0; line < lines; line++) {
    const end = at <= 0 ? -1 : text.lastIndexOf('\n', at - 1)
    if (end === -1) return 0
    at = end
  }
  return at + 1
}

function countLines(text: string): number {
  let count = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++
  return count
}
