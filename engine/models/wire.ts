import type { ModelEvent, ModelRequest, Usage } from '../core/model.ts'

/**
 * An event from a wire. Its `end` also says why the answer ended. `paused`: the provider stopped in the middle of the answer, and continues when that
 * answer is sent back to it. `limit`: the answer reached its length limit; the value is the provider's own name for this reason, such as
 * `max_tokens`.
 */
export type WireEvent =
  | Exclude<ModelEvent, { type: 'end' }>
  | { readonly type: 'end'; readonly usage: Usage; readonly paused?: true; readonly limit?: string }

/** One provider's wire format. */
export type Wire = {
  readonly enforcesSchema: boolean
  readonly searchesWeb: boolean
  /** The maximum number of tools in a request; unlimited if undefined. */
  readonly mostTools?: number
  /** Builds the request, which can then be sent several times. */
  prepare(request: ModelRequest): Exchange
}

/** A request that has been built. It can be sent, and its answers can be read. */
type Exchange = {
  /** Sends the request. May be called more than once. */
  send(signal: AbortSignal): Promise<AsyncIterable<unknown>>
  /**
   * Reads the events of one answer. Throws `ProviderFailure` if the answer is malformed or reports a failure. Ends without an `end` event if the
   * stream was interrupted.
   */
  read(stream: AsyncIterable<unknown>): AsyncIterable<WireEvent>
}
