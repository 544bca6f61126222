import type { HookCallback } from '../../hooks/load-hooks.ts'
import type { OpenedFacts } from '../../app/run-client.ts'
import type { McpServer } from '../../mcp/server.ts'
import type { OutputSchema } from '../../run/output-contract.ts'
import { UserError } from '../../core/user-error.ts'
import type { ClaudeOptions, PermissionMode } from './claude-options.ts'

/** What a client can change between the turns of its session. */
export type SessionState = {
  mode: PermissionMode
  model: string | undefined
  effort: string | undefined
  systemPrompt: string | undefined
  appendedPrompt: string | undefined
  schema: OutputSchema | undefined
  /** Permissions that the client has given for the session. */
  readonly allowed: string[]
  readonly hooks: HookCallback[]
  /** The MCP servers in the client's process. */
  readonly servers: McpServer[]
  /** The id of the session; undefined before its first turn has begun. */
  threadId: string | undefined
  costUsd: number
  /** What the last run had. */
  opened: OpenedFacts | undefined
  /** The tokens of the last response and of what it answered. */
  contextTokens: number
  isRunning: boolean
}

/** The state in which a session begins. */
export function stateOf(options: ClaudeOptions, schema: OutputSchema | undefined): SessionState {
  const { maxThinkingTokens, systemPrompt, appendSystemPrompt } = options
  return {
    mode: options.dangerouslySkipPermissions === true ? 'bypassPermissions' : (options.permissionMode ?? 'default'),
    model: modelOf(options.model),
    effort: options.effort ?? (maxThinkingTokens === undefined ? undefined : effortOf(maxThinkingTokens)),
    systemPrompt: said(systemPrompt),
    appendedPrompt: said(appendSystemPrompt),
    schema,
    allowed: [],
    hooks: [],
    servers: [],
    threadId: undefined,
    costUsd: 0,
    opened: undefined,
    contextTokens: 0,
    isRunning: false,
  }
}

function said(text: string | true | undefined): string | undefined {
  return typeof text === 'string' && text.trim() !== '' ? text : undefined
}

/** The model that a client means. Clients name families by one word. */
export function modelOf(name: string | undefined): string | undefined {
  if (name === undefined || name === 'default') return undefined
  return /^(?:opus|sonnet|haiku)$/.test(name) ? `claude-${name}-5-5` : name
}

/** How much a model reasons with a number of tokens for that; undefined: as it usually does. */
export function effortOf(tokens: number | null): string | undefined {
  if (tokens === null) return undefined
  return tokens <= 4096 ? 'low' : tokens <= 16_384 ? 'medium' : 'high'
}

/** Modes in which a run itself decides whom it asks. */
const fixedInRun: readonly PermissionMode[] = ['bypassPermissions', 'auto']

/**
 * Changes when permission is asked.
 *
 * @throws UserError `usage` if the command line doesn't let the client skip permissions, or the run in progress can't change its mode
 */
export function changeMode(state: SessionState, mode: PermissionMode, options: ClaudeOptions): void {
  const maySkip = options.dangerouslySkipPermissions ?? options.allowDangerouslySkipPermissions
  if (mode === 'bypassPermissions' && maySkip !== true && options.permissionMode !== mode)
    throw new UserError('usage', 'bypassPermissions must be allowed with --allow-dangerously-skip-permissions.')
  if (state.isRunning && mode !== state.mode && [mode, state.mode].some((each) => fixedInRun.includes(each)))
    throw new UserError('usage', `The mode can't change from ${state.mode} to ${mode} before the turn has ended.`)
  state.mode = mode
}
