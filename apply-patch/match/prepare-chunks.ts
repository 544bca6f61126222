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
export type BodyLine = { readonly mark: 'context' | 'added' | 'removed'; readonly start: number; readonly end: number }

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
    const lines = bodyLines(chunk.body)
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

/** Finds the end of the line at `from`. The first bytes are searched in a plain loop, because a native call would cost more for lines of usual length. */
function lineEnd(body: Uint8Array, from: number): number {
  const near = Math.min(from + 200, body.length)
  let at = from
  while (at < near && body[at] !== 10) at++
  if (at < near || near === body.length) return at
  const found = body.indexOf(10, near)
  return found === -1 ? body.length : found
}
