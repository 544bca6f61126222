import type { ModelEvent, ModelRequest, Usage } from '../core/model.ts'

/**
 * The stop reason of a wire. `paused`: the provider stopped midway, and continues when it is sent its own output. `limit`: the answer
 * reached its length limit, with the provider's own name for that.
 */
export type WireEvent =
  | Exclude<ModelEvent, { type: 'end' }>
  | { readonly type: 'end'; readonly usage: Usage; readonly paused?: true; readonly limit?: string }

/** One provider's wire format. */
export type Wire = {
  readonly enforcesSchema: boolean
  readonly searchesWeb: boolean
  /** How many tools a request may have. Absent: as many as there are. */
  readonly mostTools?: number
  /** Builds the request once. */
  prepare(request: ModelRequest): Exchange
}

/** A request that is built, and how its answer is read. */
type Exchange = {
  /** Sends it, as often as it takes. */
  send(signal: AbortSignal): Promise<AsyncIterable<unknown>>
  /** Reads one answer to it. Throws `ProviderFailure`; ends without `end` where the stream was cut. */
  read(stream: AsyncIterable<unknown>): AsyncIterable<WireEvent>
}
