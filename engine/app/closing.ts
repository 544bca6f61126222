/** Collects functions that close what a run has opened. They are called in reverse order, even if one of them fails. */
export class Closing {
  readonly #closers: (() => Promise<void> | void)[] = []
  #isClosed = false

  /** Adds a function that closes something that was just opened. It is called at once if everything else was closed before, because the start was given up. */
  add(close: (() => Promise<void> | void) | undefined): void {
    if (close === undefined) return
    this.#closers.push(close)
    if (this.#isClosed) void this.close().catch(() => undefined)
  }

  /** Closes everything, beginning with what was opened last. If a function fails, the others are still called, and the first error is thrown at the end. */
  async close(): Promise<void> {
    this.#isClosed = true
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
