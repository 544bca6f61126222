import { ModelError } from '../core/model.ts'
import type { Model } from '../core/model.ts'

/**
 * Returns a model that uses several models: the first one until it fails, then the next. A switch to another model is announced as a `retry` event
 * and lasts for the rest of the run, because each switch means paying for the prompt cache again.
 *
 * Errors that would also occur with another provider are thrown at once: a history that is too long has to be compacted, and a wrong configuration has to be
 * corrected by a person.
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
    // Before the first request, the run decides whether to rely on the provider for schemas and web searches, so all of the models must support them.
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
          const reason = `${error.message}; continuing with ${next.name}`
          const spent = error.spent === undefined ? {} : { spent: error.spent }
          // The model that failed is still the current one, because its price applies to what it used.
          yield { type: 'retry', attempt: at + 1, of: models.length - 1, reason, waitMs: 0, ...spent }
          at++
        }
      }
    },
  }
}

function isOtherProvidersChance(error: unknown): error is ModelError {
  return error instanceof ModelError && error.code === 'provider' && error.failure !== 'context-overflow'
}
