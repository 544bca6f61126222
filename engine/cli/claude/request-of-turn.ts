import { resolve } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import type { RunRequest } from '../../app/run-request.ts'
import { findWorkspace } from '../../app/workspace.ts'
import type { Settings } from '../../config/settings-schema.ts'
import { modelOf } from '../../config/foreign/claude-settings.ts'
import { isTable } from '../../core/is-table.ts'
import { UserError } from '../../core/user-error.ts'
import { serversIn, together, type JsonServers } from '../../mcp/json-servers.ts'
import type { Start } from '../../session/start-session.ts'
import { telling } from '../print.ts'
import { warn } from '../warn.ts'
import { agentsIn, jsonOf, textOf } from './given-json.ts'
import type { SessionState } from './session-state.ts'

/** The approval policy of each mode. In `untrusted`, the Guardian asks about all but reading, and the reviewer answers as the mode says. */
const policies: Readonly<Record<SessionState['mode'], 'untrusted' | 'on-request' | 'never'>> = {
  ...{ default: 'untrusted', acceptEdits: 'untrusted', plan: 'untrusted', dontAsk: 'untrusted' },
  ...{ auto: 'on-request', bypassPermissions: 'never' },
}

/**
 * The request for the next turn of a session, without its task and its reviewer.
 *
 * @throws UserError `usage` for options that can't be used
 */
export function requestOfTurn(state: SessionState): Omit<RunRequest, 'task'> {
  const { maxTurns, maxBudgetUsd, settingSources, disallowedTools = [], tools, ...options } = state.options
  const [own, others] = [options.systemPrompt, options.mcpConfig ?? []]
  const servers = together([{ servers: state.servers, faults: [] }, state.set, ...others.map(serversOf)])
  const settings = options.settings === undefined ? undefined : textOf(options.settings, '--settings')
  const agents = options.agents === undefined ? [] : agentsIn(jsonOf(options.agents, '--agents').value, '--agents')
  const maxCost = maxBudgetUsd === undefined ? undefined : Math.max(maxBudgetUsd - state.costUsd, 1e-6)
  return {
    workspace: findWorkspace(process.cwd()),
    environment: process.env,
    settings: {
      claude: { userConfig: typeof settingSources !== 'string' || settingSources.split(',').includes('user') },
      addDirs: (options.addDir ?? []).map((directory) => resolve(directory)),
      flags: flagsOf(state, servers),
    },
    start: startOf(state),
    source: process.env['CLAUDE_CODE_ENTRYPOINT'] ?? 'claude',
    outsideRepository: true,
    ephemeral: !options.sessionPersistence,
    // A session that has planned goes on without a plan once its mode is another.
    ...(state.mode === 'plan' ? { plan: true } : state.hasPlanned ? { plan: false } : {}),
    ...(options.land === undefined ? {} : { transaction: { land: options.land } }),
    budget: { maxTurns, maxCost },
    ...(state.schema === undefined ? {} : { output: state.schema }),
    client: {
      hooks: state.hooks,
      ...(settings === undefined
        ? {}
        : { settings: { path: resolve('.claude', settings.name), layer: 'user', text: settings.text } }),
      agents: [...state.agents, ...agents],
      tools: {
        only: Array.isArray(tools) && !tools.includes('default') ? (tools as readonly string[]) : undefined,
        without: disallowedTools.filter((entry) => !isRule(entry)),
      },
      servers,
      onlyServers: options.strictMcpConfig === true,
      ...(typeof own === 'string' && own.trim() !== '' ? { instructions: own } : {}),
      opened: (facts) => void (state.opened = facts),
    },
    warn,
    errors: telling(),
  }
}

function startOf({ options, threadId }: SessionState): Start {
  const { resume: id, sessionId, resumeSessionAt } = options
  if (threadId !== undefined) return { type: 'resume', id: threadId, here: true }
  const as = sessionId === undefined ? {} : { as: sessionId.toLowerCase() }
  const earlier = { id, here: true, ...(resumeSessionAt === undefined ? {} : { through: resumeSessionAt }) }
  if (id === undefined && options.continue !== true) {
    if (resumeSessionAt === undefined) return { type: 'new', ...as }
    throw new UserError('usage', '--resume-session-at is for an earlier session: give --resume or --continue too.')
  }
  if (options.forkSession === true) return { type: 'fork', ...earlier, ...as }
  if (sessionId === undefined) return { type: 'resume', ...earlier }
  throw new UserError('usage', '--session-id is for a new session: give --fork-session too, or leave it out.')
}

type Flag = { readonly flag: string; readonly settings: Settings }

function flagsOf({ mode, allowed, options }: SessionState, { servers }: JsonServers): readonly Flag[] {
  const { allowedTools = [], disallowedTools = [], effort, appendSystemPrompt: appended, settings: given } = options
  const model = modelOf(options.model ?? 'default')
  // Nobody is asked in this mode, so servers that the client chose would be of no use if their tools needed permission.
  const ofServers = mode === 'bypassPermissions' ? servers.map(({ name }) => `mcp__${name}`) : []
  const said: readonly (readonly [string, Settings | undefined])[] = [
    ['--settings', given === undefined ? undefined : settingsOf(given)],
    ['--permission-mode', { approval_policy: policies[mode] }],
    ['--allowedTools', { permissions: { allow: [...allowedTools, ...allowed, ...ofServers] } }],
    ['--disallowedTools', { permissions: { deny: disallowedTools.filter(isRule) } }],
    ['--model', model === undefined ? undefined : { model }],
    ['--effort', effort === undefined ? undefined : { model_reasoning_effort: effort }],
    ['--append-system-prompt', typeof appended === 'string' ? { developer_instructions: appended } : undefined],
  ]
  return said.flatMap(([flag, settings]) => (settings === undefined ? [] : [{ flag, settings }]))
}

/** Whether an entry of `--disallowedTools` is a permission rule, and not the name of a tool that is taken away. */
function isRule(entry: string): boolean {
  return entry.includes('(') || entry.startsWith('mcp__')
}

function serversOf(given: string): JsonServers {
  const json = jsonOf(given, '--mcp-config')
  if (isTable(json.value) && isTable(json.value['mcpServers']))
    return serversIn(json, ['mcpServers'], { env: process.env })
  throw new UserError('usage', `${json.place([])}: expected {"mcpServers": {…}}`)
}

const entries = z.array(z.string()).optional()
const ClaudeSettings = z.looseObject({
  permissions: z.looseObject({ allow: entries, ask: entries, deny: entries }).optional(),
  model: z.string().optional(),
})

function settingsOf(given: string): Settings {
  const { value, place } = jsonOf(given, '--settings')
  const { data, error } = ClaudeSettings.safeParse(value)
  if (data === undefined) throw new UserError('usage', `${place([])}: ${z.prettifyError(error)}`)
  const { permissions: { allow = [], ask = [], deny = [] } = {}, model: named, ...others } = data
  const idle = Object.keys(others).filter((key) => !key.startsWith('$') && key !== 'hooks')
  if (idle.length > 0) warn(`${place([])}: these settings change nothing: ${idle.join(', ')}.`)
  const model = modelOf(named ?? 'default')
  return { permissions: { allow, ask, deny }, ...(model === undefined ? {} : { model }) }
}
