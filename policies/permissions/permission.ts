import type { PathPattern } from './path-pattern.ts'
import type { PrefixRule, RuleDecision, RuleOrigin } from '../rules/rule.ts'

/** What every permission has: its text as it was written, whether it allows, asks or forbids, and where it was written. */
type Written = { readonly text: string; readonly decision: RuleDecision; readonly origin: RuleOrigin }

/** A permission to read or change files. */
export type PathPermission = Written & {
  readonly access: 'read' | 'edit'
  readonly pattern: PathPattern
}

/** A permission to reach a host, or to reach all hosts if `host` is undefined. */
export type HostPermission = Written & { readonly host: string | undefined }

/** The name of the permission to let the model's provider search the web. */
export const searchPermission = 'WebSearch'

/** A permission for tools of MCP servers, or, if `name` is `searchPermission`, for web search. In a name, `*` stands for any text. */
export type ToolPermission = Written & { readonly name: string }

/** Permission lists in Claude Code's format, combined from all files that contain such lists. */
export type PermissionSet = {
  readonly commands: readonly PrefixRule[]
  readonly paths: readonly PathPermission[]
  readonly hosts: readonly HostPermission[]
  readonly tools: readonly ToolPermission[]
  /** The folder that patterns such as `./secrets/**` are relative to, regardless of the folder that a command is in. Absent: the folder of each action. */
  readonly base?: string
  /**
   * Resolves the links in an absolute path, so that a file is judged alike under all its names. The last parts of the path need not exist. Absent: paths are
   * taken literally.
   */
  readonly realPath?: (path: string) => string
}

/** The empty set of permissions, for a run without permission lists. */
export const noPermissions: PermissionSet = { commands: [], paths: [], hosts: [], tools: [] }

/**
 * Formats a permission as verdicts and the log show it: `file:line`, the decision, and the permission's text.
 *
 * @internal
 */
export function describePermission({ origin, decision, text }: Written): string {
  return `${origin.path}:${origin.line} ${decision} ${text}`
}
