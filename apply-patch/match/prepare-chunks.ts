import type { Chunk } from '../patch.ts'
import type { LineRange } from './passes.ts'

/** A parsed chunk: its lines, and the positions of its anchors and old lines in the list of all sought lines. */
export type PreparedChunk = {
  readonly chunk: Chunk
  readonly anchorsFrom: number
  /** The position at which the anchors end and the old lines start. */
  readonly oldFrom: number
  readonly oldTo: number
  readonly lines: readonly BodyLine[]
}

/** A line of a body. The range from `start` to `end` includes neither its mark nor its line ending. */
export type BodyLine = {
  readonly mark: 'context' | 'added' | 'removed'
  readonly start: number
  readonly end: number
  /** The line ending if the patch has a lone carriage return there. Undefined if an added line gets that of a neighbour. */
  readonly ending?: '\r'
}

/** Parses the chunks of one file, so that all sought lines are known before the first search. */
export function prepareChunks(chunks: readonly Chunk[]): {
  readonly prepared: readonly PreparedChunk[]
  readonly needles: readonly LineRange[]
} {
  const needles: LineRange[] = []
  const prepared = chunks.map((chunk): PreparedChunk => {
    const anchorsFrom = needles.length
    for (const { text } of chunk.anchors) {
      const bytes = Buffer.from(text)
      needles.push({ bytes, start: 0, end: bytes.length })
    }
    const oldFrom = needles.length
    const whole = bodyLines(chunk.body)
    // Lines without a mark are known by their index.
    const lines = chunk.unmarked === undefined ? splitAtReturns(chunk.body, whole) : whole
    for (const { mark, start, end } of lines) if (mark !== 'added') needles.push({ bytes: chunk.body, start, end })
    return { chunk, anchorsFrom, oldFrom, oldTo: needles.length, lines }
  })
  return { prepared, needles }
}

/** The lines of a body. */
export function bodyLines(body: Uint8Array): readonly BodyLine[] {
  const lines: BodyLine[] = []
  for (let at = 0; at < body.length;) {
    const end = lineEnd(body, at)
    const first = body[at]
    if (end === at) lines.push({ mark: 'context', start: at, end })
    else lines.push({ mark: first === 43 ? 'added' : first === 45 ? 'removed' : 'context', start: at + 1, end })
    at = end + 1
  }
  return lines
}

/** The lines of a body after those that contain lone carriage returns are split there, as those of a file are. */
function splitAtReturns(body: Uint8Array, lines: readonly BodyLine[]): readonly BodyLine[] {
  if (!body.includes(13)) return lines
  return lines.flatMap((line) => {
    const parts: BodyLine[] = []
    let { start } = line
    // A carriage return at the end is a part of the line ending, which is the file's.
    for (let at = body.indexOf(13, start); at !== -1 && at < line.end - 1; at = body.indexOf(13, start)) {
      parts.push({ mark: line.mark, start, end: at, ending: '\r' })
      start = at + 1
    }
    return [...parts, { ...line, start }]
  })
}

/** Finds the end of the line at `from`. The first bytes are searched in a plain loop, because a native call would cost more for lines of usual length. */
function lineEnd(body: Uint8Array, from: number): number {
  const near = Math.min(from + 200, body.length)
  let at = from
  while (at < near && body[at] !== 10) at++
  if (at < near || near === body.length) return at
  const found = body.indexOf(10, near)
  return found === -1 ? body.length : found
}
