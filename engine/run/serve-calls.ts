import type { ToolResult } from '../tools/tool-result.ts'
import type { LandBetween } from './land-between.ts'
import { findCall, type CallPath } from './find-call.ts'
import { runCall } from './run-call.ts'

/** Calls the tool with this name, in the same way as when a model calls it. */
export type TakeCall = (name: string, input: object, signal: AbortSignal) => Promise<ToolResult>

/**
 * Creates the function that takes calls from a client or a prompt. Each call runs as soon as it arrives, independently of other calls.
 *
 * @param landing brings the view up to date before the calls, and lands their changes. Undefined: changes land at the end of the run, or there is no view
 */
export function takeCalls(path: CallPath, landing?: LandBetween): TakeCall {
  let taken = 0
  return async (name, input, signal) => {
    const call = { id: `call-${++taken}`, name, kind: 'function' as const, input: JSON.stringify(input) }
    await landing?.begin()
    const result = await runCall(findCall(call, path), path, { signal, alone: () => Promise.resolve() })
    const said = await landing?.end()
    if (said === undefined) return result
    return { ...result, ok: result.ok && !said.failed, output: [result.output, ...said.lines].join('\n') }
  }
}
