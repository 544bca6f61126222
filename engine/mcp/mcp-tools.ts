import { createHash } from 'node:crypto'
import * as z from 'zod'
import { withoutPatterns } from './without-patterns.ts'
import { compileJsonSchema, type Validate } from '../core/json-schema.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { defineTool } from '../tools/define-tool.ts'
import { denied, eventVerdict } from '../tools/denied-result.ts'
import type { ItemHandle, Tool, ToolContext } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { McpCallResult, McpProgress, McpToolDescription } from './connection.ts'
import type { McpServer } from './server.ts'
import type { McpServers } from './servers.ts'

/** The maximum length of a call's arguments or of its result in one event, in characters. */
const eventLimit = 8 * 1024
/** The maximum length of a server's progress message, in characters. */
const progressLimit = 200
const progressIntervalMs = 200
/** The maximum length of a tool's name that every provider accepts, in characters. */
const nameLimit = 64

/** Accepts any object, because the tool's `validate` applies the server's own schema. */
const anyObject = z.record(z.string(), z.unknown())

/** Creates the tools of all running servers. */
export function mcpTools(servers: McpServers): readonly Tool[] {
  return servers.states().flatMap(({ server, tools }) => tools.map((tool) => mcpTool(server, tool, servers)))
}

/** Returns a sentence for each server that isn't available and for each tool that can't be offered. Servers that are still starting are left out. */
export function omissions(servers: McpServers): readonly string[] {
  const holders = new Map<string, string>()
  return servers.states().flatMap(({ server, tools, problem }) => {
    const { name, enabledTools = [] } = server
    if (servers.starting().includes(name)) return []
    if (problem !== undefined) {
      const lost = enabledTools.length === 0 ? '' : ` (missing tools: ${enabledTools.join(', ')})`
      return [`The MCP server ${name} is not available${lost}: ${problem}`]
    }
    const unknown = enabledTools.filter((wanted) => !tools.some((tool) => tool.name === wanted))
    const missing = unknown.map(
      (wanted) => `The MCP server ${name} has no tool ${wanted}, although enabled_tools lists it.`,
    )
    const hidden = tools.flatMap((tool) => {
      const full = toolName(name, tool.name)
      const holder = holders.get(full)
      if (holder === undefined) holders.set(full, `'${tool.name}' of ${name}`)
      return holder === undefined
        ? []
        : [`The tool '${tool.name}' of ${name} is left out, because ${holder} already uses the name ${full}.`]
    })
    return [...missing, ...hidden]
  })
}

function mcpTool(server: McpServer, tool: McpToolDescription, servers: McpServers): Tool {
  // An untrusted server's claims about its tools are ignored.
  const readOnly = server.trusted && tool.readOnlyHint
  const schema = tool.inputSchema ?? { type: 'object' }
  let validate: Validate | undefined
  return defineTool({
    name: toolName(server.name, tool.name),
    description: tool.description,
    parameters: schema,
    input: anyObject,
    deferred: !server.alwaysLoad,
    alwaysLoad: server.alwaysLoad,
    ownItems: true,
    guarded: true,
    readOnly: () => readOnly,
    concurrencySafe: () => readOnly,
    validate: (input) => {
      validate ??= checkOf(schema)
      const problems = validate(input)
      return problems.length === 0 ? undefined : `The arguments don't match the tool's schema: ${problems.join('; ')}`
    },
    run: (input, context) => callTool({ server, tool: tool.name, readOnly }, input, servers, context),
  })
}

/**
 * Compiles a tool's schema into a check of the arguments. The check ignores the schema's regular expressions, because a server could send one that
 * takes forever to match; the server applies them itself. If the schema is invalid, nothing is checked here, and the server rejects the arguments
 * that it doesn't accept.
 */
function checkOf(schema: Readonly<Record<string, unknown>>): Validate {
  const compiled = compileJsonSchema(withoutPatterns(schema) as typeof schema)
  return 'error' in compiled ? () => [] : compiled
}

/** Returns `mcp__server__tool`, adapted to the characters and the length that all providers accept. */
function toolName(server: string, tool: string): string {
  const full = `mcp__${server}__${tool.replace(/[^\w-]/g, '_')}`
  if (full.length <= nameLimit) return full
  const mark = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 8)
  return `${full.slice(0, nameLimit - 9)}_${mark}`
}

type Target = { readonly server: McpServer; readonly tool: string; readonly readOnly: boolean }

async function callTool(
  { server, tool, readOnly }: Target,
  input: Readonly<Record<string, unknown>>,
  servers: McpServers,
  context: ToolContext,
): Promise<ToolResult> {
  const started = performance.now()
  const calledAs = toolName(server.name, tool)
  const elapsed = (): number => Math.round(performance.now() - started)
  const item = context.startItem({
    type: 'mcp_tool_call',
    server: server.name,
    tool,
    arguments: eventArguments(input),
    status: 'in_progress',
    call_id: context.callId,
  })
  const action = {
    type: 'mcp' as const,
    server: server.name,
    tool,
    arguments: input,
    ...(calledAs === `mcp__${server.name}__${tool}` ? {} : { calledAs }),
    ...(readOnly ? { readOnlyHint: true } : {}),
  }
  const { verdict, approved } = await context.review(action)
  const noted = { verdict: eventVerdict(verdict) }
  if (approved === undefined) {
    item.complete({ status: 'failed', error: { message: verdict.reason }, duration_ms: elapsed(), ...noted })
    return denied(verdict)
  }
  try {
    const sent = approved.arguments as Readonly<Record<string, unknown>>
    const result = await servers.call(approved.server, approved.tool, sent, context.signal, progressTo(item))
    const status = result.isError ? 'failed' : 'completed'
    item.complete({ status, ...eventResult(result), duration_ms: elapsed(), ...noted })
    return {
      ok: !result.isError,
      output: result.text,
      ...(result.images.length === 0 ? {} : { images: result.images }),
    }
  } catch (error) {
    const { message } = error as Error
    item.complete({ status: 'failed', error: { message }, duration_ms: elapsed(), ...noted })
    return { ok: false, output: `mcp__${server.name}__${tool}: ${message}` }
  }
}

/**
 * Returns a function that reports the progress of a call, at most once every `progressIntervalMs`, because people can't read more frequent reports.
 */
function progressTo(item: ItemHandle): (progress: McpProgress) => void {
  let told = -Infinity
  return ({ progress, total, message }) => {
    const now = performance.now()
    if (now - told < progressIntervalMs) return
    told = now
    const words = message === undefined ? {} : { message: truncateMiddle(message, progressLimit).text }
    item.update({ progress: { progress, ...(total === undefined ? {} : { total }), ...words } })
  }
}

function eventArguments(input: unknown): unknown {
  const text = JSON.stringify(input)
  return text.length <= eventLimit ? input : truncateMiddle(text, eventLimit).text
}

function eventResult({ text, isError }: McpCallResult): { result: object } | { error: { message: string } } {
  const shown = truncateMiddle(text, eventLimit).text
  return isError
    ? { error: { message: shown } }
    : { result: { content: [{ type: 'text', text: shown }], structured_content: null } }
}
