import type { Grant } from './action.ts'
import type { ApprovalMode } from './approval-mode.ts'
import type { CommandAnalysis } from './commands/analyse.ts'
import type { Opinion } from './opinion.ts'
import type { PermissionSet } from './permissions/permission.ts'
import type { RuleSet } from './rules/rule-set.ts'

/**
 * Returns the protected file or folder that an absolute path names, or the protected folder that contains the path; undefined if the path isn't
 * protected. A place is protected if it can control other programs. `roots` are the paths that are otherwise writable.
 */
export type Protects = (path: string, roots: readonly string[]) => string | undefined

/** Of the given absolute paths, returns those that are in one of the user's private directories with credentials, each with that directory. */
export type Conceals = (paths: readonly string[]) => readonly { readonly path: string; readonly place: string }[]

/** Everything that an assessment depends on, apart from the action. */
export type Policy = {
  readonly mode: ApprovalMode
  readonly rules: RuleSet
  readonly permissions: PermissionSet
  /** Whether commands in the sandbox work on a private view of the workspace and the writable roots. */
  readonly onView?: boolean | undefined
  /** Writable roots in addition to a patch's own root. */
  readonly writableRoots: readonly string[]
  /** Finds the place that protects a path against writing. Absent: no path is protected. */
  readonly protects?: Protects | undefined
  /** Finds paths that are protected against reading regardless of their names. Absent: no path is protected. */
  readonly conceals?: Conceals | undefined
  /** Whether commands in the sandbox find nothing at an absolute path and below it. Absent: they may find everything. */
  readonly hides?: ((path: string) => boolean) | undefined
  /** The grants that apply for the rest of the run. */
  readonly standing: readonly Grant[]
}

/** The combined opinion of all stages, before anybody is asked. */
export type Assessment = Opinion & { readonly analysis: CommandAnalysis | undefined }
