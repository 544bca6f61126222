import type { Sink } from '../core/events.ts'
import type { ToolCall } from '../core/model.ts'
import { maskRecord } from '../core/text/mask-record.ts'
import { maskSecrets } from '../core/text/mask-secrets.ts'
import type { Tool } from '../tools/tool.ts'
import type { ToolResult } from '../tools/tool-result.ts'

/** A call whose tool was found and whose arguments fit it, or another call. */
type ReportedCall = {
  readonly call: ToolCall
  readonly tool?: Pick<Tool, 'claudeNames'>
  readonly json?: unknown
}

/** Tells sinks the calls and their results in full, where events are cut to size. */
export type CallReport = {
  readonly called: (found: ReportedCall) => void
  readonly returned: (id: string, result: ToolResult) => void
}

/** Returns undefined if no sink wants to know. */
export function callReport(all: readonly Sink[], environment: Readonly<NodeJS.ProcessEnv>): CallReport | undefined {
  const sinks = all.filter(({ call, outcome }) => call !== undefined || outcome !== undefined)
  if (sinks.length === 0) return undefined
  const mask = maskSecrets(environment)
  return {
    called: ({ call: { id, name, input }, tool, json }) => {
      const claudeNames = tool?.claudeNames ?? []
      const told = maskRecord({ id, tool: name, claudeNames, input: tool === undefined ? input : json }, mask)
      for (const sink of sinks) sink.call?.(told)
    },
    returned: (id, { output, ok, refused }) => {
      const told = { output: mask(output), ok, refused: refused !== undefined }
      for (const sink of sinks) sink.outcome?.(id, told)
    },
  }
}
