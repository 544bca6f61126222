/** The limits on what a run may use. An absent field means that there is no such limit. */
export type Budget = {
  /** Number of model responses. */
  readonly maxTurns?: number | undefined
  /** Number of input and output tokens of all responses together, as the provider counts them. */
  readonly maxTokens?: number | undefined
  /** The cost in US dollars, at the prices that `factsOf` returns. */
  readonly maxCost?: number | undefined
  /** Wall time of the whole run in milliseconds. */
  readonly timeoutMs?: number | undefined
}
