import type { Failure, SeekFailure } from '../patch-error.ts'
import type { SearchableFile } from '../match/passes.ts'
import type { Cursor } from '../match/seek.ts'
import type { PreparedChunk } from '../match/prepare-chunks.ts'
import type { Where } from './chunk-warnings.ts'
import { diagnose } from './diagnose-miss.ts'
import type { ChunkFailure, Missing } from './locate-chunk.ts'
import type { UpdateContext } from './update-context.ts'

/** The maximum number of unmatched chunks that are explained. A patch for a different tree can have a million of them, and explaining the first ones is enough. */
const explainedFailures = 25

/** Describes why a chunk is not applied. */
export function describeFailure(
  file: SearchableFile,
  chunk: PreparedChunk,
  failure: ChunkFailure,
  cursor: Cursor,
  where: Where,
  context: UpdateContext,
): Failure {
  const [unmarked] = chunk.chunk.unmarked ?? []
  if (unmarked !== undefined) {
    const patchLine = chunk.chunk.bodyLine + unmarked
    const found = bodyText(chunk, unmarked)
    return { code: unmarked === 0 ? 'unexpected-line' : 'chunk-expected', patchLine, found }
  }
  switch (failure.type) {
    case 'ambiguous': {
      const fileLines = failure.lines.map((line) => line + 1)
      return { ...where, code: 'ambiguous', expected: oldLines(chunk.chunk.body), causes: [], fileLines }
    }
    case 'already-applied': {
      const causes = [{ type: 'already-applied', fileLine: failure.line + 1 }] as const
      return { ...where, code: 'lines-not-found', expected: freshLines(chunk), causes }
    }
    default: {
      if (context.failures.length >= explainedFailures) return { ...where, ...leaveUnexplained(chunk, failure) }
      const { path } = where
      return {
        ...where,
        ...diagnose(file, chunk, failure, cursor, context.mode, () => context.otherFiles(path)),
      }
    }
  }
}

function leaveUnexplained(
  { chunk }: PreparedChunk,
  { type }: Missing,
): Pick<SeekFailure, 'code' | 'expected' | 'causes'> {
  if (type === 'anchor-missing') return { code: 'anchor-not-found', expected: [], causes: [] }
  return { code: 'lines-not-found', expected: oldLines(chunk.body), causes: [] }
}

function oldLines(body: Uint8Array): readonly string[] {
  const lines = Buffer.from(body.buffer, body.byteOffset, body.length).toString().split('\n').slice(0, -1)
  return lines.filter((line) => !line.startsWith('+')).map((line) => line.slice(1))
}

function freshLines({ chunk, lines }: PreparedChunk): readonly string[] {
  return lines.flatMap(({ mark, start, end }) =>
    mark === 'removed' ? [] : [Buffer.from(chunk.body.subarray(start, end)).toString()],
  )
}

function bodyText({ chunk, lines }: PreparedChunk, index: number): string {
  const { start, end } = lines[index] ?? { start: 0, end: 0 }
  return Buffer.from(chunk.body.subarray(start, end)).toString()
}
