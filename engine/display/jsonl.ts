import type { Sink } from '../core/events.ts'

/** The sink for `--json`: one event per line. */
export function jsonlSink(write: (line: string) => void): Sink {
  return { event: (event) => write(`${JSON.stringify(event)}\n`) }
}
