import type { Observer } from '../observer.ts'
import { DenialCircuitBreaker } from '../denial-circuit-breaker.ts'
import type { Running } from '../running.ts'

/** How many responses that held only refused calls make a run in which no call was made a failure. */
const leastRefused = 3

/**
 * Warns a model that keeps asking for what was refused, and ends its run if that doesn't help. A run in which every call was refused doesn't count as done either,
 * whatever the calls were for.
 */
export function refusalsObserver({ conversation }: Pick<Running, 'conversation'>): Observer {
  const watch = new DenialCircuitBreaker()
  let [made, onlyRefused] = [0, 0]
  return {
    name: 'refusals',
    afterResponse: ({ called, unfit, refusals }) => {
      if (called === 0) return undefined
      made += Math.max(0, called - unfit - refusals.length)
      if (refusals.length >= called) onlyRefused += 1
      const verdict = watch.see(called, refusals)
      if (verdict === undefined) return undefined
      if ('stop' in verdict) return { type: 'stop', stop: { reason: 'stoppedByGuardian', message: verdict.stop } }
      conversation.add({ type: 'message', role: 'developer', text: verdict.tell })
      return undefined
    },
    beforeEnd: () => {
      if (made > 0 || onlyRefused < leastRefused) return undefined
      const message = `Every call was refused, in ${onlyRefused} responses, so nothing was done. Each refused call says what was refused, and why.`
      return { type: 'stop', stop: { reason: 'stoppedByGuardian', message } }
    },
  }
}
