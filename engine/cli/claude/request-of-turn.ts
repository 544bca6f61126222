import { resolve } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import type { RunRequest } from '../../app/run-request.ts'
import { findWorkspace } from '../../app/workspace.ts'
import type { Settings } from '../../config/settings-schema.ts'
import { parseForeignJson } from '../../config/foreign/parse-json.ts'
import { isTable } from '../../core/is-table.ts'
import { readUserText } from '../../core/read-plain-file.ts'
import { UserError } from '../../core/user-error.ts'
import type { HookCallback } from '../../hooks/load-hooks.ts'
import { serversIn, together, type JsonServers } from '../../mcp/json-servers.ts'
import type { Start } from '../../session/start-session.ts'
import { telling } from '../print.ts'
import { warn } from '../warn.ts'
import type { ClaudeOptions, PermissionMode } from './claude-options.ts'
import { modelOf, type SessionState } from './session-state.ts'

/** The approval policy of each mode. In `untrusted`, the Guardian asks about all but reading, and the reviewer answers as the mode says. */
const policies: Readonly<Record<PermissionMode, 'untrusted' | 'on-request' | 'never'>> = {
  default: 'untrusted',
  acceptEdits: 'untrusted',
  plan: 'untrusted',
  dontAsk: 'untrusted',
  auto: 'on-request',
  bypassPermissions: 'never',
}

/**
 * The request for the next turn of a session, without its task and its reviewer.
 *
 * @throws UserError `usage` for options that can't be used
 */
export function requestOfTurn(options: ClaudeOptions, state: SessionState): Omit<RunRequest, 'task'> {
  const { maxTurns, maxBudgetUsd, settingSources } = options
  const servers = serversOf(options, state)
  const maxCost = maxBudgetUsd === undefined ? undefined : Math.max(maxBudgetUsd - state.costUsd, 1e-6)
  return {
    workspace: findWorkspace(process.cwd()),
    environment: process.env,
    settings: {
      claude: { userConfig: typeof settingSources !== 'string' || settingSources.split(',').includes('user') },
      addDirs: (options.addDir ?? []).map((directory) => resolve(directory)),
      flags: flagsOf(options, state, servers),
    },
    start: startOf(options, state),
    source: process.env['CLAUDE_CODE_ENTRYPOINT'] ?? 'claude',
    outsideRepository: true,
    ephemeral: !options.sessionPersistence,
    // A session that planned goes on without a plan once its mode is another.
    ...(state.mode === 'plan' ? { plan: true } : state.threadId === undefined ? {} : { plan: false }),
    budget: { maxTurns, maxCost },
    ...(state.schema === undefined ? {} : { output: state.schema }),
    client: {
      hooks: [...state.hooks, ...restrictionOf(options)],
      servers,
      onlyServers: options.strictMcpConfig === true,
      ...(state.systemPrompt === undefined ? {} : { instructions: state.systemPrompt }),
      opened: (facts) => void (state.opened = facts),
    },
    warn,
    errors: telling(),
  }
}

function startOf({ resume, continue: last, forkSession, sessionId }: ClaudeOptions, { threadId }: SessionState): Start {
  if (threadId !== undefined) return { type: 'resume', id: threadId, here: true }
  const as = sessionId === undefined ? {} : { as: sessionId.toLowerCase() }
  if (resume === undefined && last !== true) return { type: 'new', ...as }
  if (forkSession === true) return { type: 'fork', id: resume, here: true, ...as }
  if (sessionId === undefined) return { type: 'resume', id: resume, here: true }
  throw new UserError('usage', '--session-id is for a new session: give --fork-session too, or leave it out.')
}

type Flag = { readonly flag: string; readonly settings: Settings }

function flagsOf(options: ClaudeOptions, state: SessionState, { servers }: JsonServers): readonly Flag[] {
  const { mode, model, effort, appendedPrompt, allowed } = state
  // Nobody is asked in this mode, so servers that the client chose would be of no use if their tools needed permission.
  const ofServers = mode === 'bypassPermissions' ? servers.map(({ name }) => `mcp__${name}`) : []
  const said: readonly (readonly [string, Settings | undefined])[] = [
    ['--settings', options.settings === undefined ? undefined : settingsOf(options.settings)],
    ['--permission-mode', { approval_policy: policies[mode] }],
    ['--allowedTools', { permissions: { allow: [...(options.allowedTools ?? []), ...allowed, ...ofServers] } }],
    ['--disallowedTools', { permissions: { deny: (options.disallowedTools ?? []).filter(isRule) } }],
    ['--model', model === undefined ? undefined : { model }],
    ['--effort', effort === undefined ? undefined : { model_reasoning_effort: effort }],
    ['--append-system-prompt', appendedPrompt === undefined ? undefined : { developer_instructions: appendedPrompt }],
  ]
  return said.flatMap(([flag, settings]) => (settings === undefined ? [] : [{ flag, settings }]))
}

/** Whether an entry of `--disallowedTools` is a permission rule, and not the name of a tool that is taken away. */
function isRule(entry: string): boolean {
  return entry.includes('(') || entry.startsWith('mcp__')
}

/** Takes tools away: a callback of our own refuses their calls. */
function restrictionOf({ disallowedTools = [], tools }: ClaudeOptions): readonly HookCallback[] {
  const gone = disallowedTools.filter((entry) => !isRule(entry))
  const only = Array.isArray(tools) && !tools.includes('default') ? (tools as readonly string[]) : undefined
  if (gone.length === 0 && only === undefined) return []
  const isThere = (name: string): boolean =>
    !gone.includes(name) && (only === undefined || only.includes(name) || /^mcp__|^structured_output$/.test(name))
  const ask: HookCallback['handler']['ask'] = ({ tool_name: name }) => {
    if (isThere(String(name))) return Promise.resolve({})
    const permissionDecisionReason = `The tool ${String(name)} isn't available in this session.`
    const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason }
    return Promise.resolve({ hookSpecificOutput })
  }
  return [{ event: 'PreToolUse', matcher: undefined, handler: { type: 'callback', id: 'tools', ask } }]
}

const Servers = z.looseObject({ mcpServers: z.record(z.string(), z.unknown()) })

function serversOf({ mcpConfig = [] }: ClaudeOptions, state: SessionState): JsonServers {
  const own = { servers: state.servers, faults: [] }
  return together([
    own,
    ...mcpConfig.map((given) => {
      const { value, place } = jsonOf(given, '--mcp-config')
      const { data, error } = Servers.safeParse(value)
      if (data === undefined) throw new UserError('usage', `${place([])}: ${z.prettifyError(error)}`)
      // Servers in the client's process are announced when the client begins.
      const apart = Object.entries(data.mcpServers).filter(([, one]) => !isTable(one) || one['type'] !== 'sdk')
      return serversIn({ value: { mcpServers: Object.fromEntries(apart) }, place }, ['mcpServers'], {
        env: process.env,
      })
    }),
  ])
}

const ClaudeSettings = z.looseObject({
  permissions: z
    .looseObject({
      allow: z.array(z.string()).optional(),
      ask: z.array(z.string()).optional(),
      deny: z.array(z.string()).optional(),
    })
    .optional(),
  model: z.string().optional(),
})

function settingsOf(given: string): Settings {
  const { value, place } = jsonOf(given, '--settings')
  const { data, error } = ClaudeSettings.safeParse(value)
  if (data === undefined) throw new UserError('usage', `${place([])}: ${z.prettifyError(error)}`)
  const { permissions: { allow = [], ask = [], deny = [] } = {}, model, ...others } = data
  if ('hooks' in others) {
    // A guard that silently vanished would be worse than a run that doesn't start.
    throw new UserError(
      'usage',
      `${place(['hooks'])}: hooks are read from files only: put them into ~/.claude/settings.json.`,
    )
  }
  const idle = Object.keys(others).filter((key) => !key.startsWith('$'))
  if (idle.length > 0) warn(`${place([])}: these settings change nothing: ${idle.join(', ')}.`)
  const named = modelOf(model)
  return { permissions: { allow, ask, deny }, ...(named === undefined ? {} : { model: named }) }
}

const largestFile = 16 * 1024 * 1024

/** Reads JSON that is given itself or as a file's path. */
function jsonOf(given: string, option: string): Exclude<ReturnType<typeof parseForeignJson>, { reason: string }> {
  const isJson = given.trimStart().startsWith('{')
  const parsed = parseForeignJson(
    isJson ? given : readUserText(resolve(given), largestFile, `${option} ${given}`),
    isJson ? option : given,
  )
  if ('reason' in parsed) throw new UserError('usage', parsed.reason)
  return parsed
}
