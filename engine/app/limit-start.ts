import { setLongTimeout } from '../../sandbox/index.ts'
import { UserError } from '../core/user-error.ts'
import { interruptionBy, type Stop } from '../run/stop.ts'

/** How long a start that was interrupted may take to end cleanly, in milliseconds. */
const graceMs = 2000
/** How much longer than the time limit a start may take, in milliseconds, so that a step that watches the limit itself can say what it waited for. */
const slackMs = 500

type StartLimit = {
  /**
   * Waits for a step of the start. Rejects with a `UserError` when the start was interrupted or takes too long; the step isn't waited for then. What a
   * step that was interrupted complains about isn't said, because it follows from the interruption.
   */
  readonly within: <T>(step: Promise<T>) => Promise<T>
  /** Waits for what a failed start still has to do, but not for ever. */
  readonly grace: (rest: Promise<void>) => Promise<void>
  /** Must be called when the run has begun or failed. From then on, nothing is limited. */
  readonly release: () => void
}

/**
 * Limits how long a run may take to begin. A run that has begun ends cleanly by itself when it is interrupted or its time is up, but a start may wait for
 * something that never answers, such as a service or a program.
 *
 * @param timeoutMs the time limit of the whole run. Default: no limit
 * @param signal the signal that interrupts the run
 */
export function limitStart(timeoutMs: number | undefined, signal: AbortSignal): StartLimit {
  const over = Promise.withResolvers<never>()
  over.promise.catch(() => undefined)
  const giveUp = ({ reason, message }: Stop): void => over.reject(new UserError(reason, message))
  let isReleased = false
  const timers: { readonly cancel: () => void }[] = []
  if (timeoutMs !== undefined) {
    const message = `The budget is used up: the run did not begin within ${timeoutMs / 1000} s (--timeout).`
    timers.push(setLongTimeout(() => giveUp({ reason: 'budget', message }), timeoutMs + slackMs))
  }
  const interrupted = (): void => void timers.push(setLongTimeout(() => giveUp(interruptionBy(signal)), graceMs))
  if (signal.aborted) interrupted()
  else signal.addEventListener('abort', interrupted, { once: true })
  return {
    within: (step) =>
      Promise.race([step, over.promise]).catch((error: unknown) => {
        if (isReleased || !signal.aborted || signal.reason instanceof Error) throw error
        const { reason, message } = interruptionBy(signal)
        throw new UserError(reason, message, { cause: error })
      }),
    grace: async (rest) => {
      const late = Promise.withResolvers<void>()
      const timer = setLongTimeout(() => late.resolve(), 2 * graceMs)
      await Promise.race([rest, late.promise])
      timer.cancel()
    },
    release: () => {
      isReleased = true
      signal.removeEventListener('abort', interrupted)
      for (const timer of timers) timer.cancel()
    },
  }
}
