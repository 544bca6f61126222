import type { Sink } from '../core/events.ts'

/** The sink of `--json`: one event a line. */
export function jsonlSink(write: (line: string) => void): Sink {
  return { event: (event) => write(`${JSON.stringify(event)}\n`) }
}
