import type { RunEvent, Sink } from '../core/events.ts'

/** Keeps the events of a run for one reader until the reader has read them. Nothing is stored before `events` is first accessed. */
export class EventQueue {
  readonly #waiting: RunEvent[] = []
  #wanted = false
  #end: { readonly error?: unknown } | undefined
  #wake: () => void = () => undefined

  readonly sink: Sink = {
    event: (event) => {
      if (!this.#wanted) return
      this.#waiting.push(event)
      this.#wake()
    },
  }

  /** Marks the end of the events. If a failure is given, the reader gets its error after the last event. */
  end(failure?: { readonly error: unknown }): void {
    this.#end ??= failure ?? {}
    this.#wake()
  }

  get events(): AsyncIterable<RunEvent> {
    this.#wanted = true
    return { [Symbol.asyncIterator]: () => this.#read() }
  }

  async *#read(): AsyncGenerator<RunEvent> {
    for (;;) {
      const event = this.#waiting.shift()
      if (event !== undefined) yield event
      else if (this.#end === undefined) await new Promise<void>((resolve) => (this.#wake = resolve))
      else if ('error' in this.#end) throw this.#end.error
      else return
    }
  }
}
