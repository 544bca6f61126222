import { textEnd, textStart } from '../text/line-table.ts'
import { trimEnd } from '../text/white-space.ts'
import type { SearchableFile } from './passes.ts'
import type { PreparedChunk } from './prepare-chunks.ts'

/**
 * Whether a chunk fits a place if none of its lines of context has a mark, so that the space at the start of such a line belongs to its text.
 *
 * @param line the first line of the place. @param length how many old lines are compared
 */
export function lacksMarksAt(
  { table }: SearchableFile,
  { chunk: { body, unmarked = [] }, lines }: PreparedChunk,
  line: number,
  length: number,
): boolean {
  let at = line
  let isSeen = false
  for (const [index, { mark, start, end }] of lines.entries()) {
    if (mark === 'added') continue
    if (at >= line + length) break
    const whole = mark === 'context' && end > start && !unmarked.includes(index)
    const from = whole ? start - 1 : start
    const found = table.bytes.subarray(textStart(table, at), textEnd(table, at))
    const size = trimEnd(body, from, end) - from
    const foundSize = trimEnd(found, 0, found.length)
    if (size !== foundSize || found.compare(body, from, from + size, 0, foundSize) !== 0) return false
    isSeen ||= whole && size > 0
    at++
  }
  return isSeen
}
