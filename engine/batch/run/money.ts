/** US dollars that a batch may cost, of which each run reserves what it may cost before it begins. */
export class Money {
  readonly #limit: number | undefined
  readonly #perRun: number | undefined
  readonly #workers: () => number
  #spent = 0
  #reserved = 0
  #ended = 0

  /**
   * @param limit for all runs together, those of earlier starts too. Undefined: none
   * @param perRun for one. Undefined: with a limit for all, its share among the workers
   */
  constructor(limit: number | undefined, perRun: number | undefined, workers: () => number) {
    this.#limit = limit
    this.#perRun = perRun
    this.#workers = workers
  }

  get spent(): number {
    return this.#spent
  }

  /** Counts what an attempt of an earlier start cost. */
  count(cost: number | undefined): void {
    this.#spent += cost ?? 0
    this.#ended += 1
  }

  /**
   * Reserves what a run may cost.
   *
   * @returns its limit, none where nothing limits; or why it can't begin: others may give something back, or what is left is too little
   */
  reserve(): { readonly limit: number | undefined } | 'wait' | 'used-up' {
    if (this.#limit === undefined) return { limit: this.#perRun }
    const left = this.#limit - this.#spent - this.#reserved
    const wanted = this.#perRun ?? this.#limit / Math.max(1, this.#workers())
    const isAlone = this.#reserved === 0
    // Without a limit of its own, the last runs have all that is left, as long as that is enough for most.
    const least = this.#perRun ?? (this.#ended === 0 ? wanted : Math.min(wanted, 2 * (this.#spent / this.#ended)))
    const limit = left >= wanted ? wanted : isAlone && left >= least && left > 0 ? left : undefined
    if (limit === undefined) return isAlone ? 'used-up' : 'wait'
    this.#reserved += limit
    return { limit }
  }

  /**
   * Gives back what a run did not use.
   *
   * @param cost undefined: nobody knows, as of a run that was killed; then all that it might have cost is counted
   */
  settle(limit: number | undefined, cost: number | undefined): void {
    if (this.#limit !== undefined) this.#reserved -= limit ?? 0
    this.#spent += cost ?? limit ?? 0
    this.#ended += 1
  }
}
