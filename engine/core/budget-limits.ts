/** How much a run may use. If a field is absent, there is no such limit. */
export type Budget = {
  /** Number of model responses. */
  readonly maxTurns?: number | undefined
  /** Input and output tokens of all responses together, as the provider counts them. */
  readonly maxTokens?: number | undefined
  /** US dollars, at the prices of `factsOf`. */
  readonly maxCost?: number | undefined
  /** Wall time of the whole run in milliseconds. */
  readonly timeoutMs?: number | undefined
}
