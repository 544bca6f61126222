import type { Change, FileState } from '../change-set.ts'
import type { Leftover } from './leftovers.ts'
import type { LostAttributes } from './attributes.ts'
import type { Step } from './commit-steps.ts'

/** Additional options of a transaction: two that an undo needs, and one that says whether old bytes are kept for an undo. */
export type Extras = {
  /** Directories to remove at the end if they are empty. */
  readonly emptied: readonly string[]
  /** Journals that are obsolete once the transaction is complete. */
  readonly retires: readonly string[]
  /** Whether the old bytes are kept in the journal. */
  readonly canUndo: boolean
}

/**
 * Files that change together with a change set although no patch may name them, such as git's index and its refs: even after a crash, either all changes
 * happen or none. An undo of the change set leaves them as they are.
 */
export type Alongside = {
  /** The only directories that may contain the files of `changes`, `unchanged` and `locks`, and `directories`; absolute real paths. */
  readonly within: readonly string[]
  /** The changes to make. The `path` of a place is used only in messages. */
  readonly changes: readonly Change[]
  /** Directories to make, as absolute paths, besides those that the files of `changes` need. Default: none. */
  readonly directories?: readonly string[]
  /** Files, as absolute paths, that must not have changed since the plan was made. */
  readonly unchanged: readonly { readonly key: string; readonly before: FileState }[]
  /**
   * Lock files, as absolute paths, that are created first and removed at the end. Other programs, such as git, respect these lock files: while they exist,
   * those programs don't write to the files in `changes` and `unchanged`.
   */
  readonly locks: readonly string[]
}

/** Options for a transaction: see `CommitOptions`. */
export type Options = {
  readonly alongside: Alongside | undefined
  readonly durable: boolean
  readonly signal: AbortSignal | undefined
  readonly now: (() => Date) | undefined
  readonly stateDirectory: string | undefined
}

/** A completed commit. */
export type Outcome = {
  readonly steps: readonly Step[]
  readonly made: readonly string[]
  readonly canUndo: boolean
  /** What could not be cleaned up, such as temporary files that could not be removed. If there is anything, the journal is kept for `recover`. */
  readonly leftOver: readonly Leftover[]
  /** The files whose extended attributes could not be kept. */
  readonly lost: readonly LostAttributes[]
}
