import type { Observer } from '../observer.ts'
import { RefusalWatch } from '../refusals.ts'

/** Ends the run of a model that keeps asking for what is refused. With a person at the terminal, the person decides. */
export function refusalsObserver(): Observer {
  const refusals = new RefusalWatch()
  return {
    name: 'refusals',
    afterResponse: ({ called, refused }) => {
      const message = called === 0 ? undefined : refusals.see(called, refused)
      return message === undefined ? undefined : { type: 'stop', stop: { reason: 'stoppedByGuardian', message } }
    },
  }
}
