import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits until a promise is settled, `ms` milliseconds have passed, or the signal is aborted.
 *
 * @returns the promise's value, or undefined if it isn't settled by then. Rejects only if the promise rejects
 */
export async function endsWithin<T>(ending: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  const waiting = new AbortController()
  const late = sleep(ms, undefined, { signal: AbortSignal.any([signal, waiting.signal]) }).catch(() => undefined)
  try {
    return await Promise.race([ending, late])
  } finally {
    waiting.abort()
  }
}
