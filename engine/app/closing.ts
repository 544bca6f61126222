/** Things that were opened. They are closed in reverse order, whatever failed in between. */
export class Closing {
  readonly #closers: (() => Promise<void> | void)[] = []

  /** Something was opened, and this closes it. */
  add(close: (() => Promise<void> | void) | undefined): void {
    if (close !== undefined) this.#closers.push(close)
  }

  /** Closes everything, the last first. One failure doesn't stop the others; the first is thrown at the end. */
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
