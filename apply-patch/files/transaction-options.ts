import type { Change, FileState } from '../change-set.ts'
import type { Leftover } from './roll-back.ts'
import type { Step } from './commit-steps.ts'

/** What an undo adds to a commit, and how much of a commit is kept for one. */
export type Extras = {
  /** Directories to remove at the end if they are empty. */
  readonly emptied: readonly string[]
  /** Journals that are obsolete once this is done. */
  readonly retires: readonly string[]
  /** Old bytes up to this many are kept in the journal. */
  readonly undoLimit: number
}

/**
 * Files that change together with a change set though no patch may name them, such as git's index and its refs: all of it happens, or nothing, also
 * after a crash. An undo of the change set leaves them as they are.
 */
export type Alongside = {
  /** The only directories that they may be in; absolute real paths. */
  readonly within: readonly string[]
  /** As in a change set; the place's `path` is for messages. */
  readonly changes: readonly Change[]
  /** What must still be as it was when this was planned, absolute. */
  readonly unchanged: readonly { readonly key: string; readonly before: FileState }[]
  /** Files that are made first and removed at the end, absolute: other programs write none of the above while these are there. */
  readonly locks: readonly string[]
}

/** How a transaction is made: see `CommitOptions`. */
export type Options = {
  readonly alongside: Alongside | undefined
  readonly durable: boolean
  readonly signal: AbortSignal | undefined
  readonly now: (() => Date) | undefined
}

/** A commit that is done. */
export type Outcome = {
  readonly steps: readonly Step[]
  readonly made: readonly string[]
  readonly canUndo: boolean
  /** Files of ours that could not be removed; the journal is then kept for `recover`. */
  readonly leftOver: readonly Leftover[]
}
