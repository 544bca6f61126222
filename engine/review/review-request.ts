import type { Severity } from '../core/severities.ts'
import type { KnownFinding } from './known-findings.ts'

/** What to review. */
export type ReviewTarget =
  /** Staged, unstaged and untracked changes. */
  | { readonly type: 'uncommitted' }
  /** The difference between the working tree, without untracked files, and the common ancestor of the checked-out commit and a branch. */
  | { readonly type: 'base'; readonly branch: string }
  /** The difference between a commit and its first parent. */
  | { readonly type: 'commit'; readonly commit: string }
  /** A unified diff that the caller supplies. */
  | { readonly type: 'diff'; readonly text: string }

/** The options of a review. */
export type ReviewRequest = {
  /** Returns what to review. Called only after the prompt has been read, because both the prompt and the diff may come from standard input. */
  readonly target: () => ReviewTarget
  /** Findings of earlier runs, which aren't reported again. Default: none. */
  readonly known?: readonly KnownFinding[]
  /** Fails the run if a new finding has this severity or a higher one. Default: findings don't fail the run. */
  readonly failOn?: Severity
}
