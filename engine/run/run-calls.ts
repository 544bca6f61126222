import type { ToolCall } from '../model.ts'
import type { Conversation } from './conversation.ts'
import type { Recorder } from './recorder.ts'
import { runCall } from './run-call.ts'
import type { RunOptions } from './run.ts'
import type { Stop } from './stop.ts'

/** What the calls of one response need. */
type Calling = {
  readonly options: RunOptions
  readonly conversation: Conversation
  readonly recorder: Recorder
  readonly signal: AbortSignal
}

/** Runs the calls of one response, one after the other, and adds their results to the history. Gives what ends the run, if one does. */
export async function runCalls(calls: readonly ToolCall[], calling: Calling): Promise<Stop | undefined> {
  const { options, conversation, recorder, signal } = calling
  for (const call of calls) {
    signal.throwIfAborted()
    const result = await runCall(call, options.tools, recorder, {
      workspace: options.workspace,
      sandbox: options.sandbox,
      guardian: options.guardian,
      signal,
      keepOutput: (bytes) => options.session.keepOutput(bytes),
    })
    conversation.add({ type: 'tool_result', callId: call.id, output: result.output, ok: result.ok })
    if (result.abort === true) return { reason: 'stoppedByGuardian', message: result.output }
    const refused = options.failOnDenied ? recorder.lastDenied : undefined
    if (refused !== undefined) {
      return { reason: 'stoppedByGuardian', message: `Refused, and --fail-on-denied was given: ${refused.what}` }
    }
  }
  return undefined
}
