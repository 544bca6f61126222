import type { Sink } from '../events.ts'
import { createTeller, type Telling } from './teller.ts'

/** Plain lines on stderr as things happen: for logs, pipes and CI. */
export function plainSink(write: (text: string) => void, telling: Telling): Sink {
  const teller = createTeller(telling)
  const print = (lines: readonly string[]): void => {
    if (lines.length > 0) write(`${lines.join('\n')}\n`)
  }
  return {
    event: (event) => print(teller.event(event)),
    end: (summary) => print(teller.summary(summary)),
  }
}
