import type { ToolResult } from '../tools/tool-result.ts'
import { findCall, type CallPath } from './find-call.ts'
import { runCall } from './run-call.ts'

/** Calls the tool with this name, in the same way as when a model calls it. */
export type TakeCall = (name: string, input: object, signal: AbortSignal) => Promise<ToolResult>

/** Creates the function that takes calls from a client or a prompt. Each call runs as soon as it arrives, independently of other calls. */
export function takeCalls(path: CallPath): TakeCall {
  let taken = 0
  return (name, input, signal) => {
    const call = { id: `call-${++taken}`, name, kind: 'function' as const, input: JSON.stringify(input) }
    return runCall(findCall(call, path), path, { signal, alone: () => Promise.resolve() })
  }
}
