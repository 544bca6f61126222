import type { Nearest } from '../errors.ts'
import { lineText, type LineTable } from '../text/line-table.ts'

/** So many lines of a file are looked at; enough for any a person wrote. */
const lineLimit = 100_000
const shownLines = 12

/**
 * The part of a file that most resembles the lines sought: the alignment under which most lines agree but for white
 * space, or, where none does, the single line most like the first one sought.
 */
export function findNearest(table: LineTable, sought: readonly string[]): Nearest | undefined {
  const count = Math.min(table.count, lineLimit)
  const wanted = new Map<string, number[]>()
  for (const [index, text] of sought.entries()) {
    const squeezed = squeeze(text)
    if (squeezed === '') continue
    const places = wanted.get(squeezed) ?? []
    // A line repeated over and over says little about where the block is.
    if (places.length < 4) wanted.set(squeezed, [...places, index])
  }
  if (wanted.size === 0 || count === 0) return undefined
  const votes = new Map<number, number>()
  const seen = new Map<string, number>()
  for (let line = 0; line < count; line++) {
    const squeezed = squeeze(lineText(table, line))
    const places = wanted.get(squeezed)
    if (places === undefined) continue
    const times = (seen.get(squeezed) ?? 0) + 1
    seen.set(squeezed, times)
    if (times > 2000) continue
    for (const index of places) votes.set(line - index, (votes.get(line - index) ?? 0) + 1)
  }
  let best: number | undefined
  for (const [start, number] of votes) if (best === undefined || number > (votes.get(best) ?? 0)) best = start
  const start = best ?? mostAlike(table, count, sought.find((text) => squeeze(text) !== '') ?? '')
  return start === undefined ? undefined : describe(table, Math.max(0, start), sought.slice(start < 0 ? -start : 0))
}

function describe(table: LineTable, start: number, sought: readonly string[]): Nearest {
  const length = Math.min(sought.length, table.count - start)
  const lines = Array.from({ length }, (_, index) => lineText(table, start + index))
  const differs = sought.findIndex((text, index) => lines[index] !== text)
  const from = differs > shownLines - 4 ? differs - (shownLines - 4) : 0
  const shown = lines.slice(from, from + shownLines)
  if (differs === -1) return { startLine: start + from + 1, lines: shown }
  const difference = { fileLine: start + differs + 1, expected: sought[differs] ?? '', found: lines[differs] }
  return { startLine: start + from + 1, lines: shown, difference }
}

/** The line that shares most of its beginning and end with a text, if it shares half. */
function mostAlike(table: LineTable, count: number, text: string): number | undefined {
  const wanted = squeeze(text).slice(0, 500)
  let best: number | undefined
  let bestScore = wanted.length / 2
  for (let line = 0; line < count; line++) {
    const other = squeeze(lineText(table, line).slice(0, 2000))
    let prefix = 0
    while (prefix < wanted.length && prefix < other.length && wanted[prefix] === other[prefix]) prefix++
    let suffix = 0
    const room = Math.min(wanted.length, other.length) - prefix
    while (suffix < room && wanted.at(-1 - suffix) === other.at(-1 - suffix)) suffix++
    const score = prefix + suffix - Math.max(0, other.length - wanted.length) / 4
    if (score > bestScore) [best, bestScore] = [line, score]
  }
  return best
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}
