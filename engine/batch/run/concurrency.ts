/**
 * The number of simultaneous runs is multiplied by `shrink` after each refusal for too many requests, and by `grow` after each period of `growMs` without a
 * refusal.
 */
const shrink = 0.8
const grow = 1.1
const growMs = 30_000

/**
 * The maximum number of simultaneous runs: the requested number, less after each refusal for too many requests, and slowly more again when there is no refusal.
 * Runs are made fewer instead of slower, because a run that waits too long between two requests loses its place in the provider's cache.
 */
export class Concurrency {
  readonly #now: () => number
  #share = 1
  #changed: number

  constructor(now: () => number) {
    this.#now = now
    this.#changed = now()
  }

  /** Called once when a provider refused a request and others that were sent at the same time. */
  throttled(): void {
    this.#share *= shrink
    this.#changed = this.#now()
  }

  /** @param wished the number of simultaneous runs that the user requested */
  of(wished: number): number {
    while (this.#share < 1 && this.#now() - this.#changed >= growMs) {
      this.#share = Math.min(1, this.#share * grow)
      this.#changed += growMs
    }
    return Math.max(1, Math.floor(wished * this.#share + 1e-9))
  }
}
