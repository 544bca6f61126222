import process from 'node:process'
import * as z from 'zod'
import { parseForeignJson } from '../../config/foreign/parse-json.ts'
import { UserError } from '../../core/user-error.ts'
import { hookEvents, type HookEvent } from '../../hooks/hook-event.ts'
import { serversIn } from '../../mcp/json-servers.ts'
import { startupSeconds, type McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'
import { schemaOf } from '../read-output-schema.ts'
import { warn } from '../warn.ts'
import { agentsIn } from './given-json.ts'
import { permissionModes } from './claude-options.ts'
import type { Client } from './client.ts'
import type { ClaudeSession } from './claude-session.ts'
import { effortOf, type SessionState } from './session-state.ts'
import { serverStates } from './turn-messages.ts'

const group = z.looseObject({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().positive().nullish(),
})

const initialize = z.looseObject({
  subtype: z.literal('initialize'),
  hooks: z.record(z.string(), z.array(group)).nullish(),
  sdkMcpServers: z.array(z.string()).nullish(),
  systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
  appendSystemPrompt: z.string().nullish(),
  agents: z.record(z.string(), z.unknown()).nullish(),
  jsonSchema: z.record(z.string(), z.unknown()).nullish(),
})

const requests = z.discriminatedUnion('subtype', [
  initialize,
  z.looseObject({ subtype: z.literal('set_permission_mode'), mode: z.enum(permissionModes) }),
  z.looseObject({ subtype: z.literal('set_model'), model: z.string().nullish() }),
  z.looseObject({ subtype: z.literal('set_max_thinking_tokens'), max_thinking_tokens: z.number().nullish() }),
  z.looseObject({
    subtype: z.literal('mcp_set_servers'),
    servers: z.record(z.string(), z.looseObject({ type: z.string().optional() })),
  }),
  z.looseObject({ subtype: z.enum(['interrupt', 'mcp_status', 'mcp_message', 'get_context_usage']) }),
])

type Asked = { readonly subtype: string }

/**
 * Does what the client asks for, and returns the answer.
 *
 * @throws UserError `usage` if the request isn't known or can't be carried out
 */
export async function answerControl(asked: Asked, session: ClaudeSession, client: Client): Promise<object> {
  const { state } = session
  const { data: request, error } = requests.safeParse(asked)
  if (request === undefined)
    throw new UserError(
      'usage',
      `The control request ${asked.subtype}: ${z.prettifyError(error)}`.replaceAll('\n', ' '),
    )
  switch (request.subtype) {
    case 'initialize':
      return begin(request, state, client)
    case 'interrupt':
      session.interrupt()
      return { still_queued: [] }
    case 'set_permission_mode':
      state.changeMode(request.mode)
      return { mode: request.mode }
    case 'set_model':
      state.options = { ...state.options, model: request.model ?? 'default' }
      return {}
    case 'set_max_thinking_tokens': {
      const { effort: _, ...options } = state.options
      const { max_thinking_tokens: tokens } = request
      state.options = { ...options, ...(tokens == null ? {} : { effort: effortOf(tokens) }) }
      return {}
    }
    case 'mcp_status':
      return { mcpServers: serverStates(state) }
    case 'mcp_set_servers':
      return setServers(request.servers, state, client)
    // A message of a server in the client's process that answers nothing, such as that its tools have changed: they are listed again in the next turn.
    case 'mcp_message':
      return {}
    case 'get_context_usage':
      return contextUsage(state)
    default:
      return request satisfies never
  }
}

async function begin(given: z.infer<typeof initialize>, state: SessionState, client: Client): Promise<object> {
  const { systemPrompt, appendSystemPrompt, jsonSchema, agents } = given
  for (const [event, groups] of Object.entries(given.hooks ?? {})) {
    if (Object.hasOwn(hookEvents, event)) addHooks(event as HookEvent, groups, state, client)
    else warn(`There is no event ${event} here, so its hooks are never called.`)
  }
  state.servers.push(...(given.sdkMcpServers ?? []).map((name) => serverInClient(name, client)))
  const prompt = [systemPrompt ?? []].flat().join('\n\n')
  if (prompt.trim() !== '') state.options = { ...state.options, systemPrompt: prompt }
  if (appendSystemPrompt != null) state.options = { ...state.options, appendSystemPrompt }
  if (agents != null) state.agents = agentsIn(agents, 'agents')
  if (jsonSchema != null) state.schema = await schemaOf(jsonSchema, 'jsonSchema')
  const models = [{ value: 'default', displayName: 'Default', description: 'the configured model' }]
  const account = { tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY' }
  const styles = { output_style: 'default', available_output_styles: ['default'] }
  const named = state.agents.map(({ name, description }) => ({ name, description }))
  return { commands: [], agents: named, ...styles, models, account, hooks_applied: true }
}

type Groups = readonly z.infer<typeof group>[]

function addHooks(event: HookEvent, groups: Groups, { hooks }: SessionState, client: Client): void {
  for (const { matcher, hookCallbackIds, timeout } of groups) {
    const limit = timeout == null ? {} : { timeout }
    for (const id of hookCallbackIds) {
      const ask = (input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> => {
        const { tool_use_id } = input
        return client.ask({ subtype: 'hook_callback', callback_id: id, input, tool_use_id }, signal)
      }
      hooks.push({ event, matcher: matcher ?? undefined, handler: { type: 'callback', id, ask, ...limit } })
    }
  }
}

const Answered = z.looseObject({ mcp_response: z.unknown() })

function serverInClient(name: string, client: Client): McpServer {
  const exchange = async (message: unknown, signal: AbortSignal): Promise<unknown> => {
    const answer = await client.ask({ subtype: 'mcp_message', server_name: name, message }, signal)
    return Answered.parse(answer).mcp_response
  }
  return {
    name: serverName(name),
    origin: 'the client',
    transport: { type: 'client', exchange },
    ...{ required: false, trusted: false, alwaysLoad: false, enabledTools: undefined, disabledTools: [] },
    ...{ startupTimeoutMs: startupSeconds * 1000, toolTimeoutMs: 3_600_000 },
  }
}

/** Replaces the servers that the client set before. They are there from the next turn. */
function setServers(
  given: Readonly<Record<string, { readonly type?: string | undefined }>>,
  state: SessionState,
  client: Client,
): object {
  const json = parseForeignJson(JSON.stringify({ mcpServers: given }), 'mcp_set_servers')
  if ('reason' in json) throw new UserError('usage', json.reason)
  const inClient = Object.keys(given).filter((name) => given[name]?.type === 'sdk')
  const { servers, faults } = serversIn(json, ['mcpServers'], { env: process.env })
  const before = state.set.servers.map(({ name }) => name)
  const all = [...inClient.map((name) => serverInClient(name, client)), ...servers]
  const errors = Object.keys(given)
    .filter((name) => all.every((server) => server.name !== serverName(name)))
    .map((name) => [name, faults.join(' ')])
  state.set = { servers: all, faults: [] }
  const now = all.map(({ name }) => name)
  return {
    added: now.filter((name) => !before.includes(name)),
    removed: before.filter((name) => !now.includes(name)),
    errors: Object.fromEntries(errors) as Record<string, string>,
  }
}

function contextUsage({ contextTokens: tokens, opened, options: { model = 'default' } }: SessionState): object {
  const maxTokens = opened?.contextWindow ?? 0
  const percentage = maxTokens === 0 ? 0 : Math.round((tokens / maxTokens) * 100)
  const categories = [{ id: 'messages', name: 'Messages', tokens, color: 'blue', kind: 'used' }]
  const none = { gridRows: [], memoryFiles: [], mcpTools: [], agents: [], apiUsage: null, isAutoCompactEnabled: true }
  return { categories, totalTokens: tokens, maxTokens, rawMaxTokens: maxTokens, percentage, model, ...none }
}
