import type { ToolResult } from '../tools/tool-result.ts'
import { findCall, type CallPath } from './find-call.ts'
import { runCall } from './run-call.ts'

/** Takes one call by a tool's name through the path that a model's calls take. */
export type TakeCall = (name: string, input: object, signal: AbortSignal) => Promise<ToolResult>

/** Makes the function that accepts calls from a client. They run as they arrive, each by itself. */
export function takeCalls(path: CallPath): TakeCall {
  let taken = 0
  return (name, input, signal) => {
    const call = { id: `call-${++taken}`, name, kind: 'function' as const, input: JSON.stringify(input) }
    return runCall(findCall(call, path), path, { signal, alone: () => Promise.resolve() })
  }
}
