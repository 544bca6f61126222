import { textEnd, textStart } from '../text/line-table.ts'
import { trimEnd } from '../text/white-space.ts'
import type { IndentedLines } from './indentation.ts'
import { isLoose, type Pass, type SearchableFile } from './passes.ts'
import type { PreparedChunk } from './prepare-chunks.ts'

/** Where the old lines of a chunk match, and its lines as the file indents them, if that differs. */
type Place = {
  readonly line: number
  readonly length: number
  readonly pass: Pass
  readonly indented?: IndentedLines | undefined
}

/**
 * The line at which a chunk's lines already stand as they would after the change, although its old lines are there too. This is so if an insertion with context
 * on only one side was applied before.
 */
export function findRepeated(file: SearchableFile, chunk: PreparedChunk, place: Place): number | undefined {
  const fresh = chunk.lines.filter(({ mark }) => mark !== 'removed')
  if (fresh.length <= place.length) return undefined
  const { line, length } = place
  return [line, line + length - fresh.length].find((from) => standsAt(file, chunk, from, place))
}

/** Whether a chunk's lines stand at a line of the file as they would after the change. Blank lines that it adds show nothing. */
export function standsAt(
  file: SearchableFile,
  chunk: PreparedChunk,
  from: number,
  { pass, indented }: Pick<Place, 'pass' | 'indented'>,
): boolean {
  const { table } = file
  const { body, lines } = indented ?? { body: chunk.chunk.body, lines: chunk.lines }
  let [at, old, showsIt] = [from, chunk.oldFrom, false]
  for (const { mark, start, end } of lines) {
    const isOld = mark !== 'added'
    if (isOld) old++
    if (mark === 'removed') continue
    if (at < 0 || at >= table.count) return false
    if (isOld && isLoose(pass)) {
      if (file.lines(pass).ids[at] !== file.block(pass, old - 1, old)[0]) return false
    } else {
      const found = table.bytes.subarray(textStart(table, at), textEnd(table, at))
      const [size, other] = [trimEnd(body, start, end) - start, trimEnd(found, 0, found.length)]
      if (size !== other || found.compare(body, start, start + size, 0, other) !== 0) return false
      showsIt ||= !isOld && size > 0
    }
    at++
  }
  return showsIt
}
