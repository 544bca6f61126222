import { EmptyAnswers } from '../count-empty-answers.ts'
import type { Observer } from '../observer.ts'
import type { Running } from '../running.ts'

/** Asks a model again after an empty answer, and ends the run if that doesn't help. */
export function emptyAnswersObserver({ conversation }: Pick<Running, 'conversation'>): Observer {
  const empty = new EmptyAnswers()
  return {
    name: 'empty answers',
    afterResponse: ({ called }) => {
      if (called > 0) empty.reset()
      const nothing = called > 0 ? undefined : empty.see(conversation.items)
      if (nothing === undefined) return undefined
      if ('failure' in nothing) return { type: 'stop', stop: { reason: 'provider', message: nothing.failure } }
      conversation.add({ type: 'message', role: 'developer', text: nothing.again })
      return { type: 'ask' }
    },
  }
}
