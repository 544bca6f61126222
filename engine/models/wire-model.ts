import type { Model, ModelEvent, ModelRequest } from '../model.ts'
import type { Endpoint } from './endpoint.ts'
import type { Limits } from './options.ts'
import { readStream } from './read-stream.ts'
import { respondWithRetries } from './retry.ts'

/** One provider's wire format. */
export type Wire = {
  readonly enforcesSchema: boolean
  /** Builds the request once; what it returns sends it, as often as it takes. */
  prepare(request: ModelRequest): (signal: AbortSignal) => Promise<AsyncIterable<unknown>>
  /** Reads one answer. Throws `ProviderFailure`; ends without `end` where the stream was cut. */
  read(stream: AsyncIterable<unknown>): AsyncIterable<ModelEvent>
}

/** A model behind a wire: with its timeouts, and its failures repeated as far as that makes sense. */
export function wireModel(name: string, wire: Wire, endpoint: Endpoint, limits: Limits): Model {
  return {
    name,
    enforcesSchema: wire.enforcesSchema,
    respond: (request, signal) => {
      const send = wire.prepare(request)
      return respondWithRetries(endpoint, () => wire.read(readStream(send, limits, signal)), limits, signal)
    },
  }
}
