import type { Observer } from '../observer.ts'
import { DenialCircuitBreaker } from '../denial-circuit-breaker.ts'
import type { Running } from '../running.ts'

/** How many responses that held only refused calls make a run in which no call was made a failure. */
const leastRefused = 3

/**
 * Warns a model that keeps asking for what was refused, and ends its run if that doesn't help. A run in which every call was refused, also those of its agents,
 * doesn't count as done either, whatever the calls were for.
 */
export function refusalsObserver({ conversation, tally }: Pick<Running, 'conversation' | 'tally'>): Observer {
  const watch = new DenialCircuitBreaker()
  return {
    name: 'refusals',
    afterResponse: ({ called, unfit, delegated, refusals }) => {
      if (called === 0) return undefined
      tally.add(Math.max(0, called - unfit - delegated - refusals.length), refusals.length >= called)
      const verdict = watch.see(called, refusals)
      if (verdict === undefined) return undefined
      if ('stop' in verdict) return { type: 'stop', stop: { reason: 'stoppedByGuardian', message: verdict.stop } }
      conversation.add({ type: 'message', role: 'developer', text: verdict.tell })
      return undefined
    },
    beforeEnd: () => {
      const { made, onlyRefused } = tally
      if (made > 0 || onlyRefused < leastRefused) return undefined
      const message = `Every call was refused, in ${onlyRefused} responses, so nothing was done. Each refused call says what was refused, and why.`
      return { type: 'stop', stop: { reason: 'stoppedByGuardian', message } }
    },
  }
}
