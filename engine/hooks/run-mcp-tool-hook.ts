import { timeoutSignal } from '../../sandbox/index.ts'
import type { HandlerResult } from './handler-result.ts'
import { readHookOutput } from './output.ts'
import type { Handler } from './hooks-schema.ts'

/** Calls a tool of an MCP server and returns the text of its result. Rejects if the call fails. */
export type CallMcpTool = (server: string, tool: string, input: unknown, signal: AbortSignal) => Promise<string>

/** Calls a tool of an MCP server to judge the event. The text of its result is the answer. */
export async function runMcpToolHook(
  handler: Extract<Handler, { type: 'mcp_tool' }>,
  input: Readonly<Record<string, unknown>>,
  call: CallMcpTool,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<HandlerResult> {
  const inTime = timeoutSignal(options.timeoutMs)
  const { server, tool } = handler
  try {
    const signal = AbortSignal.any([inTime, options.signal])
    const said = readHookOutput(await call(server, tool, fill(handler.input ?? {}, input), signal))
    return 'problem' in said ? { status: 'failed', reason: said.problem } : { status: 'answered', ...said }
  } catch (error) {
    const why = inTime.aborted ? `it took longer than ${options.timeoutMs / 1000} s` : (error as Error).message
    return { status: 'failed', reason: `mcp__${server}__${tool}: ${why}` }
  }
}

/** Fills in a template: replaces each `${a.b}` in its strings with the value at that path in the input. */
function fill(template: unknown, input: Readonly<Record<string, unknown>>): unknown {
  if (typeof template === 'string') {
    return template.replace(/\$\{([\w.]+)\}/g, (_, path: string) => {
      const value = path
        .split('.')
        .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], input)
      return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
    })
  }
  if (Array.isArray(template)) return template.map((one: unknown) => fill(one, input))
  if (typeof template !== 'object' || template === null) return template
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, fill(value, input)]))
}
