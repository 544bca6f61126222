/** The budget of a batch in US dollars, of which each run reserves the most that it may cost before it begins. */
export class Money {
  readonly #limit: number | undefined
  readonly #perRun: number | undefined
  readonly #workers: () => number
  #spent = 0
  #reserved = 0
  #ended = 0

  /**
   * @param limit for all runs together, including those of earlier starts. Undefined: none
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

  /** Counts the cost of an attempt of an earlier start. */
  count(cost: number | undefined): void {
    this.#spent += cost ?? 0
    this.#ended += 1
  }

  /**
   * Reserves the most that a run may cost.
   *
   * @returns its limit, or none if nothing limits it; or why it can't begin: it must wait for other runs to release money, or too little is left
   */
  reserve(): { readonly limit: number | undefined } | 'wait' | 'used-up' {
    if (this.#limit === undefined) return { limit: this.#perRun }
    const left = this.#limit - this.#spent - this.#reserved
    const wanted = this.#perRun ?? this.#limit / Math.max(1, this.#workers())
    const isAlone = this.#reserved === 0
    // Without a limit per run, the last runs get all that is left, as long as that is enough for most.
    const least = this.#perRun ?? (this.#ended === 0 ? wanted : Math.min(wanted, 2 * (this.#spent / this.#ended)))
    const limit = left >= wanted ? wanted : isAlone && left >= least && left > 0 ? left : undefined
    if (limit === undefined) return isAlone ? 'used-up' : 'wait'
    this.#reserved += limit
    return { limit }
  }

  /**
   * Reserves what a run that an earlier start gave out may cost: a worker has it, so this can't be changed, even where it passes the limit.
   *
   * @param limit undefined: nothing limits the run, so all that is left is reserved
   */
  keep(limit: number | undefined): { readonly limit: number | undefined } {
    if (this.#limit === undefined) return { limit }
    const kept = limit ?? Math.max(0, this.#limit - this.#spent - this.#reserved)
    this.#reserved += kept
    return { limit: kept }
  }

  /**
   * Releases the part that a run did not use.
   *
   * @param cost undefined: unknown, as for a killed run; then the whole reservation counts
   */
  settle(limit: number | undefined, cost: number | undefined): void {
    if (this.#limit !== undefined) this.#reserved -= limit ?? 0
    this.#spent += cost ?? limit ?? 0
    this.#ended += 1
  }
}
