import type { Severity } from '../core/severities.ts'
import type { KnownFinding } from './known-findings.ts'

/** What is to be reviewed. */
export type ReviewTarget =
  /** What is staged, unstaged and untracked. */
  | { readonly type: 'uncommitted' }
  /** What the tree has beyond its common ancestor with a branch. */
  | { readonly type: 'base'; readonly branch: string }
  /** What a commit did to its first parent. */
  | { readonly type: 'commit'; readonly commit: string }
  /** A unified diff that whoever asks brings along. */
  | { readonly type: 'diff'; readonly text: string }

/** What is wanted of a review. */
export type ReviewRequest = {
  /** Asked for once the prompt is known, which may come by the same way. */
  readonly target: () => ReviewTarget
  /** Findings of earlier runs, which are not told again. Default: none. */
  readonly known?: readonly KnownFinding[]
  /** Fails the run where a finding that is not known is as bad, or worse. Default: findings are no failure. */
  readonly failOn?: Severity
}
