import type { ToolCall } from '../core/model.ts'
import type { ToolResult } from '../tools/tool-result.ts'
import type { Conversation } from './conversation.ts'
import { findCall, isConcurrencySafe, isSideBySide, type CallPath, type FoundCall } from './find-call.ts'
import { runCall } from './run-call.ts'
import { Scheduler, type Turn } from './scheduler.ts'
import { faultOf, type Stop } from './stop.ts'

/** What is needed to run the calls in one response. */
type Calling = {
  readonly path: CallPath
  readonly conversation: Conversation
  /** The signal that cancels the run. */
  readonly signal: AbortSignal
  /** How many calls may run at a time. */
  readonly concurrency: number
  /** Whether the first refusal ends the run. */
  readonly failOnDenied: boolean
}

/** The calls in one response. Calls that change nothing run while the response is still being written. */
export type ResponseCalls = {
  /** Adds a call as soon as the model has finished writing it. */
  add(call: ToolCall): void
  /**
   * Cancels and discards all calls in the response, and resolves when none of them is running any more. Must be called if the response was cut off
   * and is requested again.
   */
  retract(): Promise<void>
  /**
   * Runs the remaining calls, and adds the results of all calls to the history, in the order of the calls. If the run has to end because of a result,
   * adds no later results, and returns the reason. Must be called when the response is complete and in the history.
   */
  finish(): Promise<Stop | undefined>
  /** How many calls could not be made at all, because their tool doesn't exist or their arguments don't fit. */
  readonly unfit: number
  /** How many calls only handed work to an agent. Known when `finish` has returned. */
  readonly delegated: number
  /** Cancels the calls that are still running, if there are any. Must be called at the end of the turn, whatever ended it. */
  close(): Promise<void>
}

/** Creates the object that runs the calls in one response. */
export function startCalls(calling: Calling): ResponseCalls {
  const { path, conversation, signal, failOnDenied } = calling
  let calls: FoundCall[] = []
  let scheduler = newScheduler(calling)
  let delegated = 0
  return {
    add(call) {
      const found = findCall(call, path)
      calls.push(found)
      path.report?.called(found)
      scheduler.add({
        safe: isConcurrencySafe(found, path) || isSideBySide(found),
        early: !isSideBySide(found),
        readOnly: !found.fits || found.checked.readOnly(path.context),
        run: async (turn) => {
          const result = explain(await runCall(found, path, turn), turn)
          path.report?.returned(call.id, result)
          return result
        },
      })
    },
    async retract() {
      await scheduler.close()
      calls = []
      scheduler = newScheduler(calling)
    },
    async finish() {
      scheduler.settle()
      const results = scheduler.results
      for (const [index, { call }] of calls.entries()) {
        const result = await results[index]
        if (result === undefined) throw new TypeError('a call has no result')
        if (result.delegated === true) delegated++
        const { output, ok, images } = result
        const shown = images === undefined ? {} : { images }
        conversation.add({ type: 'tool_result', callId: call.id, output, ok, ...shown })
        // A run that is being stopped already has a reason to end. The results of its calls are still stored.
        if (signal.aborted) continue
        if (result.fault !== undefined) return faultOf(result.fault)
        if (result.abort === true) return { reason: 'stoppedByGuardian', message: output }
        const refused = failOnDenied ? path.recorder.lastDenied : undefined
        if (refused !== undefined) {
          return {
            reason: 'stoppedByGuardian',
            message: `The run ended because of --fail-on-denied: ${refused.what} was refused.`,
          }
        }
      }
      return undefined
    },
    get unfit() {
      return calls.filter(({ fits }) => !fits).length
    },
    get delegated() {
      return delegated
    },
    close: () => scheduler.close(),
  }
}

function newScheduler({ concurrency, signal }: Calling): Scheduler<ToolResult> {
  return new Scheduler({
    limit: concurrency,
    signal,
    isBroken: ({ broken }) => broken === true,
    stopsLater: ({ commandFailed }) => commandFailed === true,
    skipped: (reason) => ({ ok: false, output: skippedFor[reason] }),
  })
}

const skippedFor = {
  sibling:
    'Not run: another call in the same batch could not be carried out. Nothing was changed; call again if you still need it.',
  stopped: 'Not run: the run was being stopped.',
  failed:
    'Not run, because an earlier command in the same response failed. Look at that failure first; call again if you still need this.',
} as const

/**
 * Adds a note to the result of a call that was cancelled because a parallel call could not be carried out. Without the note, the tool's own message would
 * suggest that the call itself failed.
 */
function explain(result: ToolResult, { signal }: Turn): ToolResult {
  if (result.ok || signal.reason !== 'sibling') return result
  return {
    ...result,
    output: `${result.output}\nIt was cancelled because another call in the same batch could not be carried out.`,
  }
}
