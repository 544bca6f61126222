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

/** How a transaction is made: see `CommitOptions`. */
export type Options = {
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
