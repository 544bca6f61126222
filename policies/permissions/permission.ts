import type { PathPattern } from './path-pattern.ts'
import type { PrefixRule, RuleDecision, RuleOrigin } from '../rules/rule.ts'

/** A permission as it is written, and where. */
type Written = { readonly text: string; readonly decision: RuleDecision; readonly origin: RuleOrigin }

/** Files that may be read or changed. */
export type PathPermission = Written & {
  readonly access: 'read' | 'edit'
  readonly pattern: PathPattern
}

/** Hosts that may be reached. Undefined host: all. */
export type HostPermission = Written & { readonly host: string | undefined }

/** The name of the permission to let the model's provider search the web. */
export const searchPermission = 'WebSearch'

/** Tools of other servers, by a name in which `*` stands for anything; or `searchPermission`. */
export type ToolPermission = Written & { readonly name: string }

/** Claude Code's permission lists, of all files together. */
export type PermissionSet = {
  readonly commands: readonly PrefixRule[]
  readonly paths: readonly PathPermission[]
  readonly hosts: readonly HostPermission[]
  readonly tools: readonly ToolPermission[]
  /**
   * The folder that patterns such as `./secrets/**` start from, whatever folder a command is in. Absent: the folder of each action.
   */
  readonly base?: string
  /**
   * Follows links in an absolute path, of which the last parts may not be there yet: another name for a file is not another file.
   * Absent: names are taken as they stand.
   */
  readonly realPath?: (path: string) => string
  /**
   * The path that the lists mean by what lies elsewhere for now, such as in another worktree; undefined for any other path. What is
   * restricted is so under both. Absent: there is none.
   */
  readonly alias?: (path: string) => string | undefined
}

/** Where nobody wrote a list. */
export const noPermissions: PermissionSet = { commands: [], paths: [], hosts: [], tools: [] }

/**
 * `file:line` and the permission, as verdicts and the log name it.
 *
 * @internal
 */
export function describePermission({ origin, decision, text }: Written): string {
  return `${origin.path}:${origin.line} ${decision} ${text}`
}
