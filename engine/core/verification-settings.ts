/** How a run is verified when its model is done. */
export type Verification = {
  /** Shell command lines to run in the sandbox, in this order. `[]`: none. */
  readonly commands: readonly string[]
  /** How often failures are reported to the model; 0 means as often as the budget allows. */
  readonly attempts: number
}

/** The default number of attempts. */
export const defaultAttempts = 2
