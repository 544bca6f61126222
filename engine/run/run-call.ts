import { nearest } from '../config/nearest.ts'
import type { ToolCall } from '../model.ts'
import type { Tool, ToolContext, ToolResult } from '../tools/tool.ts'
import type { Recorder } from './recorder.ts'

/**
 * Runs one call of the model and gives the result it reads. Nothing a model can send makes this throw: an unknown tool,
 * input that doesn't fit and a tool's own failure all become results, each with an item in the stream.
 */
export async function runCall(
  call: ToolCall,
  tools: readonly Tool[],
  recorder: Recorder,
  context: Omit<ToolContext, 'callId' | 'startItem'>,
): Promise<ToolResult> {
  const reject = (error: string): ToolResult => {
    const shown = call.input.length > 2000 ? `${call.input.slice(0, 2000)}…` : call.input
    recorder.complete({ type: 'tool_call', tool: call.name, input: shown, status: 'failed', error, call_id: call.id })
    return { ok: false, output: error }
  }

  const tool = tools.find(({ name }) => name === call.name)
  if (tool === undefined) return reject(unknownTool(call.name, tools))
  const prepared = tool.prepare(call.kind, call.input)
  if (!prepared.valid) return reject(prepared.error)

  const opened: { complete(changes: object): void }[] = []
  const startItem: ToolContext['startItem'] = (draft) => {
    const item = recorder.open(draft)
    opened.push(item)
    return item
  }
  try {
    return await prepared.run({ ...context, callId: call.id, startItem })
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    for (const item of opened) item.complete({ status: 'failed' })
    recorder.complete({ type: 'error', message: `${call.name}: ${message}` })
    return { ok: false, output: `${call.name} failed inside: ${message}` }
  }
}

function unknownTool(name: string, tools: readonly Tool[]): string {
  const known = tools.flatMap(({ declaration }) => (declaration === undefined ? [] : [declaration.name]))
  const near = nearest(name, known)
  return `There is no tool '${name}'.${near === undefined ? '' : ` Did you mean '${near}'?`} The tools are: ${known.join(', ')}.`
}
