/**
 * Each time a provider refuses requests because there were too many, the number of simultaneous runs is multiplied by `shrink`. After each period of
 * `growMs` without a refusal, it is multiplied by `grow`, until it has reached the requested number again.
 */
const shrink = 0.8
const grow = 1.1
const growMs = 30_000

/**
 * The maximum number of simultaneous runs. It begins with the requested number, falls each time a provider refuses requests because there were too
 * many, and slowly rises again while none are refused. Slowing down every run instead would be worse, because a provider's cache forgets the
 * prompt of a run that waits too long between two requests.
 */
export class Concurrency {
  readonly #now: () => number
  #share = 1
  #changed: number

  constructor(now: () => number) {
    this.#now = now
    this.#changed = now()
  }

  /** Reduces the number of simultaneous runs. Called once for each group of requests that were sent at the same time and refused by a provider. */
  throttled(): void {
    this.#share *= shrink
    this.#changed = this.#now()
  }

  /** The number of runs that may be active now. @param wished the number of simultaneous runs that the user requested */
  of(wished: number): number {
    while (this.#share < 1 && this.#now() - this.#changed >= growMs) {
      this.#share = Math.min(1, this.#share * grow)
      this.#changed += growMs
    }
    return Math.max(1, Math.floor(wished * this.#share + 1e-9))
  }
}
