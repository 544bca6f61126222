import { failureLines } from './report-startup-failure.ts'
import { startWatchdog } from './watchdog.ts'

/** The time limit of a run holds also where what holds the run up holds the event loop up. Gives what calls the watchdog off. */
export function watchTimeLimit(seconds: number, json: boolean): () => void {
  const message = `The budget is used up: --timeout ${seconds} seconds. The run did not stop by itself and was killed.`
  return startWatchdog({
    after: seconds * 1000,
    events: json ? failureLines('budget', message) : '',
    message: `agent: ${message}\n`,
  })
}
