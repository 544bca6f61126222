/** The limits on what a run may use. An absent field means that there is no such limit. */
export type Budget = {
  /** The maximum number of responses from the model. */
  readonly maxTurns?: number | undefined
  /** The maximum number of input and output tokens of all responses together, as the provider counts them. */
  readonly maxTokens?: number | undefined
  /** The maximum cost in US dollars, at the configured prices or, by default, the list prices. */
  readonly maxCost?: number | undefined
  /** The maximum wall time of the whole run in milliseconds. */
  readonly timeoutMs?: number | undefined
}
