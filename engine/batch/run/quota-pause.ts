/** Where a provider doesn't say when there will be something to use again, it is asked after so long, then after longer. */
const firstMs = 300_000
const longestMs = 3_600_000
/** One that says "at once" would be asked without end. */
const leastMs = 1000

/** When a batch goes on whose provider has nothing left to use. */
export class QuotaPause {
  #last: number | undefined
  #waitMs = firstMs

  /**
   * @param now milliseconds since 1970
   * @param said when the provider says that there will be something again, likewise
   */
  until(now: number, said: number | undefined): Date {
    if (said !== undefined) return new Date(Math.max(said, now + leastMs))
    // Of runs that were refused together, the first says how long; one that was refused right after the wait makes it longer.
    if (this.#last !== undefined && now < this.#last) return new Date(this.#last)
    if (this.#last !== undefined) this.#waitMs = Math.min(longestMs, this.#waitMs * 2)
    this.#last = now + this.#waitMs
    return new Date(this.#last)
  }
}
