/** How a run is verified when its model is done. */
export type Verification = {
  /** Shell command lines to run in the sandbox, in this order. `[]`: none. */
  readonly commands: readonly string[]
  /** How many times failures are reported to the model; 0 means as many times as the budget allows. */
  readonly attempts: number
}

/** The default for `attempts`. */
export const defaultAttempts = 2
