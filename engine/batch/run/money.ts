import { addMicros, dollarsOf, microsOf, nothing, takeMicros, type Micros } from '../../core/money.ts'

/** The budget of a batch in US dollars. Before a run begins, the maximum that it may cost is reserved. */
export class Money {
  readonly #limit: Micros | undefined
  readonly #perRun: Micros | undefined
  readonly #workers: () => number
  #spent = nothing
  #reserved = nothing
  /** How many runs have a reservation. Some reservations are of nothing. */
  #open = 0
  #ended = 0

  /**
   * @param limit the limit for all runs together, including runs from earlier starts of the batch. Undefined: no limit
   * @param perRun the limit for one run. Undefined: the limit for all runs, if there is one, divided by the number of workers
   */
  constructor(limit: number | undefined, perRun: number | undefined, workers: () => number) {
    this.#limit = limit === undefined ? undefined : microsOf(limit)
    this.#perRun = perRun === undefined ? undefined : microsOf(perRun)
    this.#workers = workers
  }

  get spent(): number {
    return dollarsOf(this.#spent)
  }

  /** Adds the cost of an attempt that was made before the batch was restarted. */
  count(cost: number | undefined): void {
    this.#spent = addMicros(this.#spent, microsOf(cost ?? 0))
    this.#ended += 1
  }

  /**
   * Reserves the maximum that a new run may cost.
   *
   * @returns the maximum cost of the run as `limit`, which is undefined if there is no limit. If the run can't begin, the result is `wait` if other runs may
   * still release money, or `used-up` if too little money is left
   */
  reserve(): { readonly limit: number | undefined } | 'wait' | 'used-up' {
    if (this.#limit === undefined) {
      return { limit: this.#perRun === undefined ? undefined : dollarsOf(this.#perRun) }
    }
    const left = takeMicros(this.#limit, this.#spent, this.#reserved)
    const wanted = this.#perRun ?? (Math.max(1, Math.floor(this.#limit / Math.max(1, this.#workers()))) as Micros)
    const isAlone = this.#open === 0
    if (left >= wanted) return this.#setAside(wanted)
    // If there is no limit per run, the last run may get a lower limit than the others: all the money that is left, if that is at least twice the
    // average cost of a run.
    const least = this.#perRun ?? (this.#ended === 0 ? wanted : Math.min(wanted, 2 * (this.#spent / this.#ended)))
    if (isAlone && left >= least && left > 0) return this.#setAside(left)
    return isAlone ? 'used-up' : 'wait'
  }

  /**
   * Reserves the maximum that a run from an earlier start of the batch may cost. A worker has already begun the run, so its limit can't be changed, even if it
   * exceeds the budget.
   *
   * @param limit the maximum cost of the run. If it is undefined, nothing limits the run, so all the money that is left is reserved
   */
  keep(limit: number | undefined): { readonly limit: number | undefined } {
    if (this.#limit === undefined) return { limit }
    const left = takeMicros(this.#limit, this.#spent, this.#reserved)
    return this.#setAside(limit === undefined ? (Math.max(0, left) as Micros) : microsOf(limit))
  }

  /**
   * Releases the part of the reservation that a run did not use.
   *
   * @param limit the reserved maximum
   * @param cost the cost of the run. If it is undefined, the cost is unknown, for example because the run was killed, and the whole reservation counts
   */
  settle(limit: number | undefined, cost: number | undefined): void {
    if (this.#limit !== undefined) {
      this.#reserved = takeMicros(this.#reserved, microsOf(limit ?? 0))
      this.#open -= 1
    }
    this.count(cost ?? limit)
  }

  #setAside(limit: Micros): { readonly limit: number } {
    this.#reserved = addMicros(this.#reserved, limit)
    this.#open += 1
    return { limit: dollarsOf(limit) }
  }
}
