import type { RunEvent, Sink } from '../core/events.ts'

/** The events of one run, for any number of readers. Each reader gets all events, however late it starts. */
export class EventHistory implements AsyncIterable<RunEvent> {
  readonly #events: RunEvent[] = []
  #end: { readonly error?: unknown } | undefined
  #next = Promise.withResolvers<void>()

  readonly sink: Sink = { event: (event) => this.#tell(() => this.#events.push(event)) }

  /** Marks the end of the events. If an error is given, it is thrown to each reader after the last event. */
  end(failure: { readonly error?: unknown } = {}): void {
    this.#tell(() => (this.#end ??= failure))
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent, void> {
    for (let at = 0; ; at++) {
      while (at >= this.#events.length) {
        if (this.#end !== undefined && 'error' in this.#end) throw this.#end.error
        if (this.#end !== undefined) return
        await this.#next.promise
      }
      const event = this.#events[at]
      if (event !== undefined) yield event
    }
  }

  #tell(change: () => void): void {
    change()
    this.#next.resolve()
    this.#next = Promise.withResolvers()
  }
}
