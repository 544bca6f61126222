import type { RunToken } from './scan-patch.ts'

/** The parts of one operation. Each part is a run of lines that `scanPatch` returned. */
export type OperationSyntax = {
  readonly header: RunToken
  /** The headers of a diff above the first chunk. */
  readonly gitHeader: RunToken | undefined
  /** Every `*** Move to:` line, with its position. */
  readonly moves: readonly RunToken[]
  /** The lines of an add or a delete; undefined if there are none. Always undefined for an update, whose lines are in `chunks`. */
  readonly body: RunToken | undefined
  readonly endOfAdded: RunToken | undefined
  readonly blanks: readonly RunToken[]
  readonly chunks: readonly ChunkSyntax[]
}

export type ChunkSyntax = {
  readonly anchors: readonly RunToken[]
  readonly body: RunToken
  readonly endOfFile: RunToken | undefined
}

export type Chunks = Pick<OperationSyntax, 'chunks' | 'blanks' | 'moves' | 'gitHeader'>

/** What the parser does with the parts of a patch as soon as it has read them, so that it needn't keep them. */
export type Actions = {
  readonly marker: (marker: RunToken, which: 'begin' | 'end') => void
  readonly prelude: (environment: RunToken | undefined, blanks: readonly RunToken[]) => void
  readonly operation: (operation: OperationSyntax) => void
}

/** Where the parser stopped. */
export type SyntaxError = {
  /** The token that didn't fit; undefined if no tokens were left. */
  readonly at: RunToken | undefined
  /** The token before it; undefined if it was the first. */
  readonly after: RunToken | undefined
  /** The header of the operation that was read last. */
  readonly header: RunToken | undefined
  /** The part of an operation that was not finished; undefined if the token is not in such a part. */
  readonly within: 'update' | 'chunk' | undefined
}
