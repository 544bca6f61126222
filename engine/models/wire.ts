import type { ModelEvent, ModelRequest, Usage } from '../core/model.ts'

/**
 * An event of a provider's response. The `end` event also says why the response ended. `paused`: the provider stopped in the middle of the response,
 * and continues when that response is sent back to it. `limit`: the response reached its maximum length; the value is the provider's own name for
 * this reason, such as `max_tokens`.
 */
export type WireEvent =
  | Exclude<ModelEvent, { type: 'end' }>
  | { readonly type: 'end'; readonly usage: Usage; readonly paused?: true; readonly limit?: string }

/** The wire format of a provider: how requests are built and sent, and how responses are read. */
export type Wire = {
  readonly enforcesSchema: boolean
  readonly searchesWeb: boolean
  /** The maximum number of tools in a request; unlimited if undefined. */
  readonly mostTools?: number
  /** Builds the request, which can then be sent several times. */
  prepare(request: ModelRequest): Exchange
}

/** A request that has been built. It can be sent, and the responses to it can be read. */
type Exchange = {
  /** Sends the request. May be called more than once. */
  send(signal: AbortSignal): Promise<AsyncIterable<unknown>>
  /** Whether an event of the stream says why the answer ended, so that at most counts follow it. */
  isEnd(event: unknown): boolean
  /**
   * Reads the events of one response. Throws `ProviderFailure` if the response is malformed or reports a failure. Ends without an `end` event if the
   * stream was interrupted.
   */
  read(stream: AsyncIterable<unknown>): AsyncIterable<WireEvent>
}
