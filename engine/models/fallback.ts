import { ModelError } from '../core/model.ts'
import type { Model } from '../core/model.ts'

/**
 * The first of several models whose provider answers. A change is announced as a `retry` event, and stays for the rest
 * of the run: going back and forth would pay for the prompt cache again each time.
 *
 * What another provider can't mend is thrown at once: a history that is too long wants compaction, and a wrong
 * configuration wants a person.
 */
export function withFallbacks(models: readonly Model[]): Model {
  let at = 0
  const current = (): Model => {
    const model = models[at]
    if (model === undefined) throw new RangeError(`no model ${at} of ${models.length}`)
    return model
  }
  return {
    get name() {
      return current().name
    },
    // How the result is delivered is settled before the first request, so all of them must be able to.
    enforcesSchema: models.every((model) => model.enforcesSchema === true),
    searchesWeb: models.every((model) => model.searchesWeb === true),
    async *respond(request, signal) {
      for (;;) {
        try {
          yield* current().respond(request, signal)
          return
        } catch (error) {
          const next = models[at + 1]
          if (next === undefined || !isOtherProvidersChance(error)) throw error
          at++
          const reason = `${error.message}; going on with ${next.name}`
          yield { type: 'retry', attempt: at, of: models.length - 1, reason, waitMs: 0 }
        }
      }
    },
  }
}

function isOtherProvidersChance(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === 'provider' && error.failure !== 'context-overflow'
}
