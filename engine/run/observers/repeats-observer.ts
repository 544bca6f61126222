import type { Conversation } from '../conversation.ts'
import type { Observer } from '../observer.ts'

/** Ends the run of a model that keeps repeating a call, or whose answers keep being cut off in the middle of a call. */
export function repeatsObserver(conversation: Conversation): Observer {
  return {
    name: 'repeats',
    afterResponse: ({ called }) => {
      const message = called === 0 ? undefined : conversation.repeated
      return message === undefined ? undefined : { type: 'stop', stop: { reason: 'budget', message } }
    },
  }
}
