import type { Warning } from '../change-set.ts'
import { indentAt, type IndentedLines } from '../match/indentation.ts'
import { isLoose, type SearchableFile } from '../match/passes.ts'
import { seekChunk, type Cursor, type Match } from '../match/seek.ts'
import type { PreparedChunk } from '../match/prepare-chunks.ts'
import { findRepeated } from '../match/repeated.ts'
import { splitChunk, type Piece } from '../match/split-chunk.ts'
import { splitWarning, warningsOf, type Where } from './chunk-warnings.ts'
import type { UpdateContext } from './update-context.ts'

/** Why a chunk is not applied. */
export type ChunkFailure = Missing | { readonly type: 'ambiguous'; readonly lines: readonly number[] } | Applied

/** The place of a chunk, or of the parts of which it consists, and what a careful user should know about it. */
type Located =
  | { readonly type: 'insert-at-end'; readonly warnings: (where: Where) => readonly Warning[] }
  | {
      readonly type: 'found'
      readonly pieces: readonly LocatedPiece[]
      readonly warnings: (where: Where) => readonly Warning[]
    }
  | { readonly failure: ChunkFailure }
export type Missing = Extract<Match, { type: 'anchor-missing' | 'lines-missing' }>
type Applied = { readonly type: 'already-applied'; readonly line: number }

/** Finds where a chunk belongs, and decides whether that is certain enough. */
export function locateChunk(
  file: SearchableFile,
  chunk: PreparedChunk,
  cursor: Cursor,
  context: UpdateContext,
): Located {
  const match = seekChunk(file, chunk, cursor, context.mode, context.warnings.isFull ? 2 : undefined)
  switch (match.type) {
    case 'insert-at-end': {
      const line = findRepeated(file, chunk, { line: file.table.count, length: 0, pass: 'exact' })
      if (line !== undefined) return { failure: { type: 'already-applied', line } }
      return { type: 'insert-at-end', warnings: () => [] }
    }
    case 'lines-missing': {
      const isSplittable = context.mode === 'lenient' && chunk.chunk.unmarked === undefined
      const split = isSplittable ? splitChunk(file, chunk, match.from) : undefined
      if (split === undefined) return { failure: match }
      if ('applied' in split) return { failure: { type: 'already-applied', line: split.applied } }
      if ('ambiguous' in split) return { failure: { type: 'ambiguous', lines: split.ambiguous } }
      const { pieces } = split
      return { type: 'found', pieces, warnings: (where) => [splitWarning(pieces, where)] }
    }
    case 'anchor-missing':
      return { failure: match }
    case 'found': {
      const isGuess = match.ambiguous.length > 0
      const isMistaken =
        match.unmarked === true || chunk.chunk.unmarked !== undefined || match.abbreviated !== undefined
      if (isGuess && (isMistaken || context.ambiguous === 'refuse'))
        return { failure: { type: 'ambiguous', lines: match.ambiguous } }
      const isShifted = isLoose(match.pass) && match.unmarked === undefined
      const indented = isShifted ? indentAt(file, chunk, match.line, match.length) : undefined
      const line = findRepeated(file, chunk, { ...match, indented })
      if (line !== undefined) return { failure: { type: 'already-applied', line } }
      const piece = { chunk, line: match.line, length: match.length, ...(indented && { indented }) }
      const isReindented = indented !== undefined && indented.body !== chunk.chunk.body
      return { type: 'found', pieces: [piece], warnings: (where) => warningsOf(match, chunk, isReindented, where) }
    }
    default:
      return match satisfies never
  }
}

/** A part of a chunk with its place, and its lines as the file indents them. */
export type LocatedPiece = Piece & { readonly indented?: IndentedLines }
