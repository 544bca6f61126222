/** Collects functions that close what a run has opened. They are called in reverse order, even if one of them fails. */
export class Closing {
  readonly #closers: (() => Promise<void> | void)[] = []

  /** Adds a function that closes something that was just opened. */
  add(close: (() => Promise<void> | void) | undefined): void {
    if (close !== undefined) this.#closers.push(close)
  }

  /** Closes everything, beginning with what was opened last. If a function fails, the others are still called, and the first error is thrown at the end. */
  async close(): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close !== undefined; close = this.#closers.pop()) {
      try {
        await close()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
