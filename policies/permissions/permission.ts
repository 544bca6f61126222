import type { PathPattern } from './path-pattern.ts'
import type { PrefixRule, RuleDecision, RuleOrigin } from '../rules/rule.ts'

/** A permission as written, and its position. */
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

/** Tools of MCP servers, by a name in which `*` stands for anything; or `searchPermission`. */
export type ToolPermission = Written & { readonly name: string }

/** Claude Code's permission lists, of all files together. */
export type PermissionSet = {
  readonly commands: readonly PrefixRule[]
  readonly paths: readonly PathPermission[]
  readonly hosts: readonly HostPermission[]
  readonly tools: readonly ToolPermission[]
  /** The folder that patterns such as `./secrets/**` start from, whatever folder a command is in. Absent: the folder of each action. */
  readonly base?: string
  /**
   * Resolves links in an absolute path whose last parts may not exist yet: so another name for a file doesn't make it another file. Absent: names are
   * taken literally.
   */
  readonly realPath?: (path: string) => string
  /**
   * The original path of a file that is temporarily elsewhere, such as in another worktree; undefined for any other path. Restrictions
   * apply to both. Absent: there is none.
   */
  readonly alias?: (path: string) => string | undefined
}

/** The default without lists. */
export const noPermissions: PermissionSet = { commands: [], paths: [], hosts: [], tools: [] }

/**
 * `file:line` and the permission, in the form used by verdicts and the log.
 *
 * @internal
 */
export function describePermission({ origin, decision, text }: Written): string {
  return `${origin.path}:${origin.line} ${decision} ${text}`
}
