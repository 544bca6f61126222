import type { Grant } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import type { CommandAnalysis } from './commands/analyse.ts'
import type { Opinion } from './opinion.ts'
import type { PermissionSet } from './permissions/permission.ts'
import type { RuleSet } from './rules/rule-set.ts'

/**
 * Says what protects an absolute path from being written although a root holds it: a place that other programs obey. Undefined where
 * nothing does. `roots` are what may be written otherwise.
 */
export type Protects = (path: string, roots: readonly string[]) => string | undefined

/** Says which of some absolute paths lie in a place that nobody but the user reads, where credentials are kept, and in which. */
export type Conceals = (paths: readonly string[]) => readonly { readonly path: string; readonly place: string }[]

/** What an assessment depends on besides the action. */
export type Policy = {
  readonly mode: ApprovalMode
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  /** Roots besides a patch's own that may be written. */
  readonly writableRoots: readonly string[]
  /** What protects a path from being written; absent: nothing is. */
  readonly protects?: Protects | undefined
  /** What keeps a path from being read, besides what its name tells; absent: nothing does. */
  readonly conceals?: Conceals | undefined
  /** What was granted for the rest of the run. */
  readonly standing: readonly Grant[]
}

/** What all stages together say, before anybody is asked. */
export type Assessment = Opinion & { readonly analysis: CommandAnalysis | undefined }
