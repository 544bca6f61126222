import type { HookCallback } from '../../hooks/load-hooks.ts'
import type { OpenedFacts } from '../../app/run-client.ts'
import type { JsonServers } from '../../mcp/json-servers.ts'
import type { McpServer } from '../../mcp/server.ts'
import type { AgentDefinition } from '../../skills/definition.ts'
import type { OutputSchema } from '../../run/output-contract.ts'
import { UserError } from '../../core/user-error.ts'
import type { ClaudeOptions, PermissionMode } from './claude-options.ts'

/** What is known of a client's session, most of which the client can change between its turns. */
export class SessionState {
  /** The options of the command line, as the client has changed them since. */
  options: ClaudeOptions
  mode: PermissionMode
  schema: OutputSchema | undefined
  /** Permissions that the client has given for the session. */
  readonly allowed: string[] = []
  readonly hooks: HookCallback[] = []
  /** The MCP servers in the client's process. */
  readonly servers: McpServer[] = []
  /** Sub-agents that the client has defined. */
  agents: readonly AgentDefinition[] = []
  /** The MCP servers that the client has set since, as JSON and in its own process. */
  set: JsonServers = { servers: [], faults: [] }
  /** The id of the session; undefined before its first turn has begun. */
  threadId: string | undefined
  costUsd = 0
  /** What the last run had. */
  opened: OpenedFacts | undefined
  /** The tokens of the last response and of what it answered. */
  contextTokens = 0
  isRunning = false
  /** Whether an earlier turn only planned. */
  hasPlanned = false

  constructor(options: ClaudeOptions, schema: OutputSchema | undefined) {
    this.options = options
    this.schema = schema
    this.mode =
      options.dangerouslySkipPermissions === true ? 'bypassPermissions' : (options.permissionMode ?? 'default')
  }

  /**
   * Changes when permission is asked.
   *
   * @throws UserError `usage` if the command line doesn't let the client skip permissions, or the run in progress can't change its mode
   */
  changeMode(mode: PermissionMode): void {
    const { dangerouslySkipPermissions: skips, allowDangerouslySkipPermissions: maySkip = skips } = this.options
    if (mode === 'bypassPermissions' && maySkip !== true && this.options.permissionMode !== mode)
      throw new UserError('usage', 'bypassPermissions must be allowed with --allow-dangerously-skip-permissions.')
    if (this.isRunning && mode !== this.mode && [mode, this.mode].some((each) => fixedInRun.includes(each)))
      throw new UserError('usage', `The mode can't change from ${this.mode} to ${mode} before the turn has ended.`)
    this.mode = mode
  }
}

/** Modes in which a run itself decides whom it asks. */
const fixedInRun: readonly PermissionMode[] = ['bypassPermissions', 'auto']

/** How much a model reasons with a number of tokens for that. */
export function effortOf(tokens: number): string {
  return tokens <= 4096 ? 'low' : tokens <= 16_384 ? 'medium' : 'high'
}
