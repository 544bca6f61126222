/** What a run is verified by, when its model is done. */
export type Verification = {
  /** Lines for the sandbox's shell; they run in this order. `[]`: none. */
  readonly commands: readonly string[]
  /** How often the model is told of those that fail; 0: as often as the budget allows. */
  readonly attempts: number
}

/** How often, where nobody says. */
export const defaultAttempts = 2
