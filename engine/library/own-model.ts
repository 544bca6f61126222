import { ModelError, type Model, type ModelEvent, type ModelRequest } from '../core/model.ts'

/**
 * Wraps a caller's model so that a run can rely on two properties: a response ends when its signal is aborted, even if the model ignores the
 * signal, and errors that the model throws are reported as failures of the model, not of this program.
 */
export function ownModel(model: Model): Model {
  return {
    get name() {
      return model.name
    },
    enforcesSchema: model.enforcesSchema === true,
    searchesWeb: model.searchesWeb === true,
    respond: (request, signal) => respond(model, request, signal),
  }
}

async function* respond(model: Model, request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  aborted.catch(() => undefined)
  const abort = (): void => reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  let events: AsyncIterator<ModelEvent> | undefined
  try {
    signal.throwIfAborted()
    events = model.respond(request, signal)[Symbol.asyncIterator]()
    for (;;) {
      const next = await Promise.race([events.next(), aborted])
      if (next.done === true) return
      yield next.value
    }
  } catch (error) {
    if (signal.aborted || error instanceof ModelError) throw error
    const message = error instanceof Error ? error.message : String(error)
    throw new ModelError('provider', `${model.name}: ${message}`, { failure: 'server', cause: error })
  } finally {
    signal.removeEventListener('abort', abort)
    void end(events)
  }
}

/** Asks the caller's model to end its response. Don't await this function: with a model that ignores its signal, the promise may never settle. */
async function end(events: AsyncIterator<ModelEvent> | undefined): Promise<void> {
  try {
    await events?.return?.()
  } catch {
    // The response is over, so errors while the model ends it don't matter.
  }
}
