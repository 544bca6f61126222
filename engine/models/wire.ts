import type { ModelEvent, ModelRequest } from '../model.ts'

/** What a wire says. `paused`: the provider stopped on its way, and goes on when it is sent what it said so far. */
export type WireEvent = ModelEvent | (Extract<ModelEvent, { type: 'end' }> & { readonly paused: true })

/** One provider's wire format. */
export type Wire = {
  readonly enforcesSchema: boolean
  readonly searchesWeb: boolean
  /** Builds the request once; what it returns sends it, as often as it takes. */
  prepare(request: ModelRequest): (signal: AbortSignal) => Promise<AsyncIterable<unknown>>
  /** Reads one answer. Throws `ProviderFailure`; ends without `end` where the stream was cut. */
  read(stream: AsyncIterable<unknown>): AsyncIterable<WireEvent>
}
