import type { Nearest } from '../patch-error.ts'
import type { SearchableFile } from '../match/passes.ts'
import { lineText, type LineTable } from '../text/line-table.ts'

/** How many lines of a file are compared, at most, with the first sought line that isn't blank. This is done only if no line equals a sought one. */
const lineLimit = 50_000
const shownLines = 12

/**
 * The part of a file that most resembles the sought lines: the one in which the most lines equal their counterparts, apart from white space. If no line equals
 * its counterpart, the part starts at the line that is most similar to the first sought line that isn't blank.
 *
 * @param from the index of the first sought line among all lines that the patch looks for in the file
 */
export function findNearest(
  file: SearchableFile,
  from: number,
  to: number,
  expected: readonly string[],
): Nearest | undefined {
  const { table } = file
  const lines = file.lines('white-space')
  const block = file.block('white-space', from, to)
  const votes = new Map<number, number>()
  const counted = new Map<number, number>()
  let best: number | undefined
  for (const [index, id] of block.entries()) {
    // A line that occurs often among the sought lines says little about their position, so only its first occurrences are counted.
    const times = (counted.get(id) ?? 0) + 1
    counted.set(id, times)
    if (times > 4 || squeeze(expected[index] ?? '') === '') continue
    for (const line of lines.places(id, 2000)) {
      const start = line - index
      const number = (votes.get(start) ?? 0) + 1
      votes.set(start, number)
      if (best === undefined || number > (votes.get(best) ?? 0) || (number === votes.get(best) && start < best))
        best = start
    }
  }
  const count = Math.min(table.count, lineLimit)
  const start = best ?? mostAlike(table, count, expected.find((text) => squeeze(text) !== '') ?? '')
  return start === undefined ? undefined : describe(table, Math.max(0, start), expected.slice(start < 0 ? -start : 0))
}

function describe(table: LineTable, start: number, expected: readonly string[]): Nearest {
  const length = Math.min(expected.length, table.count - start)
  const lines = Array.from({ length }, (_, index) => lineText(table, start + index))
  const differs = expected.findIndex((text, index) => lines[index] !== text)
  const from = differs > shownLines - 4 ? differs - (shownLines - 4) : 0
  const shown = lines.slice(from, from + shownLines)
  if (differs === -1) return { startLine: start + from + 1, lines: shown }
  const difference = { fileLine: start + differs + 1, expected: expected[differs] ?? '', found: lines[differs] }
  return { startLine: start + from + 1, lines: shown, difference }
}

/** The line whose beginning and end have the most in common with a text. Undefined if the common parts are no longer than half of the text. */
function mostAlike(table: LineTable, count: number, text: string): number | undefined {
  const wanted = squeeze(text).slice(0, 500)
  let best: number | undefined
  let bestScore = wanted.length / 2
  for (let line = 0; line < count; line++) {
    const other = squeeze(lineText(table, line).slice(0, 2000))
    let prefix = 0
    while (prefix < wanted.length && prefix < other.length && wanted[prefix] === other[prefix]) prefix++
    let suffix = 0
    const remaining = Math.min(wanted.length, other.length) - prefix
    while (suffix < remaining && wanted.at(-1 - suffix) === other.at(-1 - suffix)) suffix++
    const score = prefix + suffix - Math.max(0, other.length - wanted.length) / 4
    if (score > bestScore) [best, bestScore] = [line, score]
  }
  return best
}

function squeeze(text: string): string {
  return text.replace(/\s+/g, '')
}
