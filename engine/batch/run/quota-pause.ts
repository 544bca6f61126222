/** If a provider doesn't say when quota will be available again, it is asked after this time, then after longer ones. */
const firstMs = 300_000
const longestMs = 3_600_000
/** Otherwise a provider that says "at once" would be asked without end. */
const leastMs = 1000

/** When a batch continues whose provider's quota is exhausted. */
export class QuotaPause {
  #last: number | undefined
  #waitMs = firstMs

  /**
   * @param now milliseconds since 1970
   * @param said when the provider says that quota will be available, in the same unit
   */
  until(now: number, said: number | undefined): Date {
    if (said !== undefined) return new Date(Math.max(said, now + leastMs))
    // Of runs that were refused together, the first determines the time; a refusal right after the wait makes the next wait longer.
    if (this.#last !== undefined && now < this.#last) return new Date(this.#last)
    if (this.#last !== undefined) this.#waitMs = Math.min(longestMs, this.#waitMs * 2)
    this.#last = now + this.#waitMs
    return new Date(this.#last)
  }
}
