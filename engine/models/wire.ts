import type { ModelEvent, ModelRequest, Usage } from '../core/model.ts'

/**
 * An event from a wire, with the stop reason at the end. `paused`: the provider stopped midway, and continues when its own output
 * is sent back to it. `limit`: the answer reached its length limit; the value is the provider's own name for that.
 */
export type WireEvent =
  | Exclude<ModelEvent, { type: 'end' }>
  | { readonly type: 'end'; readonly usage: Usage; readonly paused?: true; readonly limit?: string }

/** One provider's wire format. */
export type Wire = {
  readonly enforcesSchema: boolean
  readonly searchesWeb: boolean
  /** The maximum number of tools in a request. Absent: no limit. */
  readonly mostTools?: number
  /** Builds the request, which can then be sent several times. */
  prepare(request: ModelRequest): Exchange
}

/** A request that has been built, and how its answer is read. */
type Exchange = {
  /** Sends the request. May be called repeatedly. */
  send(signal: AbortSignal): Promise<AsyncIterable<unknown>>
  /** Reads one answer. Throws `ProviderFailure`. Ends without `end` if the stream was interrupted. */
  read(stream: AsyncIterable<unknown>): AsyncIterable<WireEvent>
}
