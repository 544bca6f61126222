import type { Observer } from '../observer.ts'
import { DenialCircuitBreaker } from '../denial-circuit-breaker.ts'
import type { Running } from '../running.ts'

/** Warns a model that keeps asking for what was refused, and ends its run if that doesn't help. */
export function refusalsObserver({ conversation }: Pick<Running, 'conversation'>): Observer {
  const watch = new DenialCircuitBreaker()
  return {
    name: 'refusals',
    afterResponse: ({ called, refusals }) => {
      const verdict = called === 0 ? undefined : watch.see(called, refusals)
      if (verdict === undefined) return undefined
      if ('stop' in verdict) return { type: 'stop', stop: { reason: 'stoppedByGuardian', message: verdict.stop } }
      conversation.add({ type: 'message', role: 'developer', text: verdict.tell })
      return undefined
    },
  }
}
