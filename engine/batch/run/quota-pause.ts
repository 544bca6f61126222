/** The first waiting time, in milliseconds, if a provider doesn't say when quota will be available again. Each further wait is twice as long, up to an hour. */
const firstMs = 300_000
const longestMs = 3_600_000
/** The minimum waiting time, in milliseconds. Without it, the batch would retry without a pause if the provider named a time that has passed. */
const leastMs = 1000

/** Determines when a batch continues after a provider's quota was exhausted. */
export class QuotaPause {
  #last: number | undefined
  #waitMs = firstMs

  /**
   * @param now milliseconds since 1970
   * @param said when quota will be available according to the provider, in milliseconds since 1970; undefined if the provider doesn't say
   */
  until(now: number, said: number | undefined): Date {
    if (said !== undefined) return new Date(Math.max(said, now + leastMs))
    // If several runs are refused together, the first refusal determines the time. A refusal after the wait makes the next wait longer.
    if (this.#last !== undefined && now < this.#last) return new Date(this.#last)
    if (this.#last !== undefined) this.#waitMs = Math.min(longestMs, this.#waitMs * 2)
    this.#last = now + this.#waitMs
    return new Date(this.#last)
  }
}
