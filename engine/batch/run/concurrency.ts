/**
 * The factor by which each refusal for too many requests reduces the simultaneous runs, and the time without one after which their number grows
 * again.
 */
const shrink = 0.8
const grow = 1.1
const growMs = 30_000

/**
 * How many runs there may be at once: the requested number, fewer after each refusal for too many requests, and slowly more again without one. It
 * makes fewer runs instead of slower ones, because a run that waits too long between two requests loses its place in the provider's cache.
 */
export class Concurrency {
  readonly #now: () => number
  #share = 1
  #changed: number

  constructor(now: () => number) {
    this.#now = now
    this.#changed = now()
  }

  /** Called when a provider refused a request, and those that were sent at the same time. */
  throttled(): void {
    this.#share *= shrink
    this.#changed = this.#now()
  }

  /** @param wished the number that the user requested */
  of(wished: number): number {
    while (this.#share < 1 && this.#now() - this.#changed >= growMs) {
      this.#share = Math.min(1, this.#share * grow)
      this.#changed += growMs
    }
    return Math.max(1, Math.floor(wished * this.#share + 1e-9))
  }
}
