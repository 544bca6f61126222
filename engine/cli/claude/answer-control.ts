import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import { hookEvents, type HookEvent } from '../../hooks/hook-event.ts'
import { startupSeconds, type McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'
import { schemaOf } from '../read-output-schema.ts'
import { warn } from '../warn.ts'
import { permissionModes, type ClaudeOptions } from './claude-options.ts'
import type { Client } from './client.ts'
import type { ClaudeSession } from './claude-session.ts'
import { changeMode, effortOf, modelOf, type SessionState } from './session-state.ts'
import { serverStates } from './turn-messages.ts'

const matcher = z.looseObject({
  matcher: z.string().nullish(),
  hookCallbackIds: z.array(z.string()),
  timeout: z.number().positive().nullish(),
})

const requests = {
  initialize: z.looseObject({
    hooks: z.record(z.string(), z.array(matcher)).nullish(),
    sdkMcpServers: z.array(z.string()).nullish(),
    systemPrompt: z.union([z.string(), z.array(z.string())]).nullish(),
    appendSystemPrompt: z.string().nullish(),
    jsonSchema: z.record(z.string(), z.unknown()).nullish(),
  }),
  set_permission_mode: z.looseObject({ mode: z.enum(permissionModes) }),
  set_model: z.looseObject({ model: z.string().nullish() }),
  set_max_thinking_tokens: z.looseObject({ max_thinking_tokens: z.number().nullish() }),
}

type Request = { readonly subtype: string } & Readonly<Record<string, unknown>>

/**
 * Does what the client asks for, and returns the answer.
 *
 * @throws UserError `usage` if the request isn't known or can't be carried out
 */
export async function answerControl(
  request: Request,
  session: ClaudeSession,
  client: Client,
  options: ClaudeOptions,
): Promise<object> {
  const { state } = session
  switch (request.subtype) {
    case 'initialize':
      return initialize(read('initialize', request), state, client)
    case 'interrupt':
      session.interrupt()
      return { still_queued: [] }
    case 'set_permission_mode': {
      const { mode } = read('set_permission_mode', request)
      changeMode(state, mode, options)
      return { mode }
    }
    case 'set_model':
      state.model = modelOf(read('set_model', request).model ?? undefined)
      return {}
    case 'set_max_thinking_tokens':
      state.effort = effortOf(read('set_max_thinking_tokens', request).max_thinking_tokens ?? null)
      return {}
    case 'mcp_status':
      return { mcpServers: serverStates(state) }
    // A message of a server in the client's process that answers nothing, such as that its tools have changed: they are listed again in the next turn.
    case 'mcp_message':
      return {}
    case 'get_context_usage':
      return contextUsage(state)
    default:
      throw new UserError('usage', `Unsupported control request: ${request.subtype}.`)
  }
}

function read<Name extends keyof typeof requests>(name: Name, request: Request): z.infer<(typeof requests)[Name]> {
  const { data, error } = requests[name].safeParse(request)
  if (data === undefined) throw new UserError('usage', `${name}: ${z.prettifyError(error).replaceAll('\n', ' ')}`)
  return data as z.infer<(typeof requests)[Name]>
}

async function initialize(
  given: z.infer<typeof requests.initialize>,
  state: SessionState,
  client: Client,
): Promise<object> {
  const { hooks, sdkMcpServers, systemPrompt, appendSystemPrompt, jsonSchema } = given
  for (const [event, groups] of Object.entries(hooks ?? {})) {
    if (Object.hasOwn(hookEvents, event)) addHooks(event as HookEvent, groups, state, client)
    else warn(`There is no event ${event} here, so its hooks are never called.`)
  }
  state.servers.push(...(sdkMcpServers ?? []).map((name) => serverInClient(name, client)))
  const prompt = [systemPrompt ?? []].flat().join('\n\n')
  if (prompt.trim() !== '') state.systemPrompt = prompt
  if (appendSystemPrompt?.trim()) state.appendedPrompt = appendSystemPrompt
  if (jsonSchema) state.schema = await schemaOf(jsonSchema, 'jsonSchema')
  return {
    commands: [],
    agents: [],
    output_style: 'default',
    available_output_styles: ['default'],
    models: [{ value: 'default', displayName: 'Default', description: 'the configured model' }],
    account: { tokenSource: 'none', apiKeySource: 'ANTHROPIC_API_KEY' },
    hooks_applied: true,
  }
}

function addHooks(
  event: HookEvent,
  groups: readonly z.infer<typeof matcher>[],
  { hooks }: SessionState,
  client: Client,
): void {
  for (const { matcher: names, hookCallbackIds, timeout } of groups) {
    for (const id of hookCallbackIds) {
      const ask = (input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> => {
        const of = typeof input['tool_use_id'] === 'string' ? { tool_use_id: input['tool_use_id'] } : {}
        return client.ask({ subtype: 'hook_callback', callback_id: id, input, ...of }, signal)
      }
      const limit = timeout == null ? {} : { timeout }
      hooks.push({ event, matcher: names ?? undefined, handler: { type: 'callback', id, ask, ...limit } })
    }
  }
}

const Answered = z.looseObject({ mcp_response: z.unknown() })

function serverInClient(name: string, client: Client): McpServer {
  return {
    name: serverName(name),
    origin: 'the client',
    transport: {
      type: 'client',
      exchange: async (message, signal) => {
        const answer = await client.ask({ subtype: 'mcp_message', server_name: name, message }, signal)
        return Answered.parse(answer).mcp_response
      },
    },
    required: false,
    startupTimeoutMs: startupSeconds * 1000,
    toolTimeoutMs: 3_600_000,
    enabledTools: undefined,
    disabledTools: [],
    trusted: false,
    alwaysLoad: false,
  }
}

function contextUsage({ contextTokens, opened, model }: SessionState): object {
  const maxTokens = opened?.contextWindow ?? 0
  const free = Math.max(maxTokens - contextTokens, 0)
  return {
    categories: [
      { id: 'messages', name: 'Messages', tokens: contextTokens, color: 'blue', kind: 'used' },
      { id: 'free_space', name: 'Free space', tokens: free, color: 'gray', kind: 'free' },
    ],
    totalTokens: contextTokens,
    maxTokens,
    rawMaxTokens: maxTokens,
    percentage: maxTokens === 0 ? 0 : Math.round((contextTokens / maxTokens) * 100),
    gridRows: [],
    model: model ?? 'default',
    memoryFiles: [],
    mcpTools: [],
    agents: [],
    isAutoCompactEnabled: true,
    apiUsage: null,
  }
}
