import type { Grant } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import type { CommandAnalysis } from './commands/analyse.ts'
import type { Opinion } from './opinion.ts'
import type { PermissionSet } from './permissions/permission.ts'
import type { RuleSet } from './rules/rule-set.ts'

/**
 * Returns why an absolute path within a writable root is protected: it controls other programs. Undefined if it isn't. `roots` are the otherwise
 * writable paths.
 */
export type Protects = (path: string, roots: readonly string[]) => string | undefined

/** Returns which of some absolute paths are in a private directory of the user with credentials, and in which. */
export type Conceals = (paths: readonly string[]) => readonly { readonly path: string; readonly place: string }[]

/** What an assessment depends on besides the action. */
export type Policy = {
  readonly mode: ApprovalMode
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  /** Writable roots besides a patch's own. */
  readonly writableRoots: readonly string[]
  /** Why a path is protected from being written; absent: nothing is. */
  readonly protects?: Protects | undefined
  /** Why a path is protected from being read, apart from its name; absent: nothing is. */
  readonly conceals?: Conceals | undefined
  /** The grants for the rest of the run. */
  readonly standing: readonly Grant[]
}

/** The combined opinion of all stages, before anybody is asked. */
export type Assessment = Opinion & { readonly analysis: CommandAnalysis | undefined }
