/** What each refusal for too many requests leaves of the runs at once, and how long without one it takes for them to grow again. */
const shrink = 0.8
const grow = 1.1
const growMs = 30_000

/**
 * How many runs there may be at once: as many as are wished, less after each refusal for too many requests, and slowly more again without one. Fewer
 * runs rather than slower ones: what waits too long between two requests falls out of the provider's cache.
 */
export class Concurrency {
  readonly #now: () => number
  #share = 1
  #changed: number

  constructor(now: () => number) {
    this.#now = now
    this.#changed = now()
  }

  /** A provider refused a request, and what was on its way with it. */
  throttled(): void {
    this.#share *= shrink
    this.#changed = this.#now()
  }

  /** @param wished by whoever runs the batch */
  of(wished: number): number {
    while (this.#share < 1 && this.#now() - this.#changed >= growMs) {
      this.#share = Math.min(1, this.#share * grow)
      this.#changed += growMs
    }
    return Math.max(1, Math.floor(wished * this.#share + 1e-9))
  }
}
