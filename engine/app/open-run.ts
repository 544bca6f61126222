import type { RunSummary } from '../core/events.ts'
import type { TakeCall } from '../run/serve-calls.ts'
import { interruptionBy, type Stop } from '../run/stop.ts'
import { assemble } from './assemble-run.ts'
import { Closing } from './closing.ts'
import { beginSession, confineRun } from './confine-run.ts'
import { EventQueue } from './event-queue.ts'
import { limitStart } from './limit-start.ts'
import { loadRun } from './load-run.ts'
import type { Run, RunRequest } from './run-request.ts'
import type { Loaded } from './stages.ts'
import { tellFailedStart } from './watch-run.ts'

/**
 * Opens a run. Every interface of the program uses this one function. The run starts at once. It doesn't look at the terminal or the command line,
 * handles no signals, writes to no standard stream and never exits the process that called it. When the run is over or could not start, everything
 * that it opened is closed in reverse order.
 *
 * @example
 * // Not run: it asks a model.
 * const run = openRun({ task: { type: 'prompt', prompt: 'fix it' }, workspace: process.cwd(), environment: process.env })
 * console.log((await run.result).finalMessage)
 */
export function openRun(request: RunRequest): Run {
  const queue = new EventQueue()
  const controller = new AbortController()
  const closing = new Closing()
  const served = Promise.withResolvers<TakeCall>()
  const ready = Promise.withResolvers<void>()
  const over = Promise.withResolvers<void>()
  let loaded: Loaded | undefined
  const interrupt: Run['interrupt'] = (reason = 'interrupted') => controller.abort(reason)
  closing.add(follow(request.signal, (reason) => interrupt(reason)))

  let hasBegun = false
  let abandon: ((stop: Stop) => void) | undefined
  const limit = limitStart(request.budget?.timeoutMs, controller.signal)
  const go = async (): Promise<RunSummary> => {
    loaded = await limit.within(loadRun(request, closing))
    request.loaded?.()
    const confined = await limit.within(confineRun(loaded, closing))
    const opened = await limit.within(beginSession(confined, controller.signal, closing))
    const running = assemble(opened, closing, {
      sinks: [...(request.sinks ?? []), queue.sink],
      began: (end) => {
        abandon = end
        limit.release()
      },
      begun: () => {
        hasBegun = true
        ready.resolve()
      },
      serve: (take) => {
        served.resolve(take)
        return over.promise
      },
    })
    return limit.within(running)
  }

  const result = go().catch(async (error: unknown) => {
    limit.release()
    if (!hasBegun) {
      // The run is closed before the failure is reported, so that nothing else is still writing to the telemetry file then.
      await limit.grace(closing.close().catch(() => undefined))
      await tellFailedStart(request, error)
    }
    throw error
  })
  const closed = result.then(
    () => closing.close(),
    () => closing.close(),
  )
  result.then(
    () => queue.end(),
    (error: unknown) => queue.end({ error }),
  )
  result.catch((error: unknown) => {
    ready.reject(error)
    served.reject(error)
  })
  // Without these handlers, the process would crash if one of the promises were rejected and the caller ignored it.
  for (const promise of [result, closed, ready.promise, served.promise]) promise.catch(() => undefined)

  return {
    get events() {
      return queue.events
    },
    ready: ready.promise,
    result,
    answer: (callId, answer) => loaded?.review.answer?.(callId, answer) ?? false,
    call: async (name, input, signal) => (await served.promise)(name, input, signal),
    interrupt,
    abandon: (reason) => {
      abandon?.(interruptionBy({ reason }))
      return abandon !== undefined
    },
    close: async () => {
      over.resolve()
      if (request.task.type === 'prompt') interrupt()
      await closed
    },
  }
}

/** Interrupts the run when the caller's signal is aborted. Returns a function that stops watching the signal. */
function follow(signal: AbortSignal | undefined, interrupt: Run['interrupt']): () => void {
  const stop = (): void => {
    const { reason } = signal ?? {}
    interrupt(reason === 'terminated' ? reason : 'interrupted')
  }
  if (signal?.aborted === true) stop()
  signal?.addEventListener('abort', stop, { once: true })
  return () => signal?.removeEventListener('abort', stop)
}
