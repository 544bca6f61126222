/** Counts what became of the calls of a run, and of those of its agents. */
export class CallTally {
  readonly #of: CallTally | undefined
  #made = 0
  #onlyRefused = 0

  /** @param of the tally of the run that an agent works for. Default: none, because this run is no agent's */
  constructor(of?: CallTally) {
    this.#of = of
  }

  /** How many calls were made. Handing work to an agent is none, and asking about work neither: what the agent does counts. */
  get made(): number {
    return this.#made
  }

  /** How many responses made calls, all of which were refused. */
  get onlyRefused(): number {
    return this.#onlyRefused
  }

  /** Adds the calls of one response. */
  add(made: number, isOnlyRefused: boolean): void {
    this.#made += made
    if (isOnlyRefused) this.#onlyRefused++
    this.#of?.add(made, isOnlyRefused)
  }
}
