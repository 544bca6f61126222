import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Waits for something, but no longer than `ms` milliseconds, or until the signal.
 *
 * @returns its result, or undefined when it isn't settled by then. Rejects only where it does
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
