import { basename } from 'node:path'
import type { CommandItem, Item } from '../core/events.ts'
import type { Attributes } from './otlp.ts'

const callTypes = ['command_execution', 'file_change', 'tool_call', 'mcp_tool_call'] as const

/** Items that represent tool calls. */
export type CallItem = Extract<Item, { readonly type: (typeof callTypes)[number] }>

/** Whether an item represents a tool call. */
export function isCall(item: Item): item is CallItem {
  return callTypes.some((type) => type === item.type)
}

/** The name of the tool that a call used. `called` is the tool's name in the model's call with the same id, if that is known. */
export function toolOf(item: CallItem, called: string | undefined): string {
  if (item.type === 'mcp_tool_call') return `mcp__${item.server}__${item.tool}`
  if (item.type === 'tool_call') return item.tool
  return called ?? (item.type === 'file_change' ? 'apply_patch' : 'exec_command')
}

/** The result of a call as text: its output, a patch's diff, or the error. Undefined if it has none of these. */
export function resultOf(item: CallItem): string | undefined {
  if (item.type === 'command_execution') return item.aggregated_output
  if (item.type === 'file_change') return item.error ?? item.diff
  if (item.type === 'tool_call') return item.output ?? item.error
  return item.error?.message ?? JSON.stringify(item.result)
}

/** The prefix of the attributes that OpenTelemetry's conventions define for processes. */
const group = 'process'

/** Describes a command as a span: the name of its program and the outcome, but not its arguments. */
export function describeCommand(item: CommandItem): {
  readonly name: string
  readonly isFailed: boolean
  readonly attributes: Attributes
} {
  const name = basename(/^'?([^\s']*)/.exec(item.command)?.[1] ?? '') || 'command'
  const code = item.exit_code ?? undefined
  const isFailed = code !== 0
  const { length: denials } = item.denials ?? []
  const errorType = code === undefined ? (item.ended_by ?? 'failed') : String(code)
  const attributes = {
    [`${group}.executable.name`]: name,
    [`${group}.exit.code`]: code,
    'portcullis.sandbox.backend': item.sandbox,
    'portcullis.sandbox.denials': denials === 0 ? undefined : denials,
    ...(isFailed ? { 'error.type': errorType } : {}),
  }
  return { name, isFailed, attributes }
}
