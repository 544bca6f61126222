/** What was opened, to be closed in reverse order, whatever failed in between. */
export class Closing {
  readonly #closers: (() => Promise<void> | void)[] = []

  /** Something was opened, and this closes it. */
  add(close: (() => Promise<void> | void) | undefined): void {
    if (close !== undefined) this.#closers.push(close)
  }

  /** Closes everything, the last first. What fails to close keeps nothing else open; the first failure is thrown at the end. */
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
