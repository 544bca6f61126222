import type { Sink } from '../core/events.ts'

/** Creates the sink for `--json`, which writes one event per line. */
export function jsonlSink(write: (line: string) => void): Sink {
  return { event: (event) => write(`${JSON.stringify(event)}\n`) }
}
