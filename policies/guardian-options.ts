import type { ApprovalMode } from './approval-mode.ts'
import type { Conceals, Protects } from './assessment.ts'
import type { AuditLog } from './audit/log.ts'
import type { PermissionSet } from './permissions/permission.ts'
import type { Reviewer } from './reviewer.ts'
import type { RuleSet } from './rules/rule-set.ts'
import type { OthersOpinions } from './with-opinions.ts'

/** What a guardian's decisions depend on. */
export type GuardianOptions = {
  readonly approvalMode: ApprovalMode
  /** The rules about commands and connections. Default: none. */
  readonly rules?: RuleSet
  /** Permissions from lists in Claude Code's format. Default: none. */
  readonly permissions?: PermissionSet
  /** The reviewer for questions that the rules and the approval mode leave open. */
  readonly reviewer: Reviewer
  /** The reviewer for plans, in every approval mode. Default: none. */
  readonly planReviewer?: Reviewer
  /** Receives every verdict before its action starts. */
  readonly audit: AuditLog
  /** Whether commands in the sandbox work on a private view. If so, what they delete there needs no approval. Default: no. */
  readonly onView?: boolean
  /** Writable roots in addition to a patch's own root. Default: none. */
  readonly writableRoots?: readonly string[]
  /**
   * Returns the protected place that contains a path, whether or not the path is in a writable root. The code that confines commands provides this
   * function. Default: no path is protected.
   */
  readonly protects?: Protects
  /** Finds paths in the user's private directories on this machine. Default: any hidden file of a home directory counts as private. */
  readonly conceals?: Conceals
  /**
   * Whether commands in the sandbox find nothing at an absolute path and below it, because the sandbox shows only what was named. Reading there needs no
   * approval. Default: they may find everything.
   */
  readonly hides?: (path: string) => boolean
}

/** The options of one review. */
export type ReviewOptions = OthersOpinions & {
  readonly signal?: AbortSignal
  /** A patch as a unified diff, for the reviewer. */
  readonly diff?: string
  /** The caller's id for the action, which the reviewer gets with the request. */
  readonly subject?: string
  /** Why the action is refused regardless of approval, if that is already known. In that case nobody is asked, and the denial is recorded. */
  readonly refuse?: string
  /** The name of the stage that refuses the action (`refuse`), such as `hook`. Default: `confinement`, which means that the action is impossible. */
  readonly refusedBy?: string
}
