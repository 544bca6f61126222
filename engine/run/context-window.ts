import { ModelError } from '../core/model.ts'

/** The factor by which a conversation must have grown since the last compaction before it is compacted again because of the limit. */
const growth = 1.25
/** After this many compactions in a row that gained nothing, the conversation is no longer compacted because of the limit. */
const mostUseless = 2

/** Decides whether the next request fits into the model's context window, and when the conversation must be shortened. */
export class ContextWindow {
  readonly #limitOf: (model: string) => number | undefined
  #overflow: 'none' | 'seen' | 'mended' = 'none'
  #least = 0
  #useless = 0
  #isTried = false

  /** @param limitOf how many tokens a request to a model may have; undefined if there is no limit */
  constructor(limitOf: (model: string) => number | undefined) {
    this.#limitOf = limitOf
  }

  /** Returns why the conversation must be compacted before a request of this many tokens; undefined if it needn't be. */
  wanted(tokens: number, model: string): 'limit' | 'overflow' | undefined {
    if (this.#overflow === 'seen') return 'overflow'
    const limit = this.#limitOf(model)
    if (this.#useless >= mostUseless) return undefined
    // A conversation that can't be made smaller than the limit would otherwise be compacted before every request.
    return limit !== undefined && tokens >= Math.max(limit, this.#least) ? 'limit' : undefined
  }

  /** Records that compaction has reduced the conversation to this number of tokens. */
  made(tokens: number): void {
    this.#least = tokens * growth
    this.#isTried = true
    if (this.#overflow === 'seen') this.#overflow = 'mended'
  }

  /**
   * Records that the model has answered, which shows that the request was not too long, and how many tokens the provider has counted. Returns a message
   * if that shows once too often that compaction doesn't help.
   */
  answered(tokens: number, model: string): string | undefined {
    this.#overflow = 'none'
    if (!this.#isTried) return undefined
    this.#isTried = false
    const limit = this.#limitOf(model)
    this.#useless = limit !== undefined && tokens >= limit ? this.#useless + 1 : 0
    if (this.#useless < mostUseless) return undefined
    return (
      `The conversation isn't summarized any more: after ${mostUseless} summaries, ${model} still counts ${tokens} tokens, and the limit is ${limit}. ` +
      'If its provider counts wrongly or the limit is too low, set model_auto_compact_token_limit or model_context_window.'
    )
  }

  /**
   * Whether an error means that the conversation is too long, in which case compacting it may help. After the first such error, returns false until
   * the model has answered again, so that compaction isn't tried twice in a row.
   */
  overflowed(error: unknown): error is ModelError {
    if (!isOverflow(error) || this.#overflow !== 'none') return false
    this.#overflow = 'seen'
    return true
  }

  /** Adds a note to the error if the conversation is still too long after compaction. Any other error is returned unchanged. */
  explain(error: unknown): unknown {
    if (!isOverflow(error) || this.#overflow !== 'mended') return error
    const { failure = 'context-overflow', status, spent } = error
    const message = `${error.message} (The conversation was already summarized, and is still too long.)`
    return new ModelError('provider', message, { failure, status, spent, cause: error })
  }
}

function isOverflow(error: unknown): error is ModelError {
  return error instanceof ModelError && error.failure === 'context-overflow'
}
