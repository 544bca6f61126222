/** A source of random choices (mulberry32). With the same seed, the choices are the same. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number that is at least 0 and less than `below`. */
  below(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below
  }

  of<T>(all: readonly T[]): T {
    const chosen = all[this.below(all.length)]
    if (chosen === undefined) throw new Error('there is nothing to choose from')
    return chosen
  }

  /** Joins random entries of a list: at least `least` and at most `most` of them. */
  some(all: readonly string[], least: number, most: number): string {
    let joined = ''
    for (let left = least + this.below(most - least + 1); left > 0; left--) joined += this.of(all)
    return joined
  }
}
