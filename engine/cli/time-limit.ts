import { failureLines } from './report-startup-failure.ts'
import { startWatchdog } from './time-limit-watchdog.ts'

/** Enforces the time limit of a run even when the event loop is blocked. Returns a function that stops the watchdog. */
export function watchTimeLimit(seconds: number, json: boolean): () => void {
  const message = `The budget is used up: the run took ${seconds} s (--timeout). It did not stop by itself and was killed.`
  return startWatchdog({
    after: seconds * 1000,
    events: json ? failureLines('budget', message) : '',
    message: `agent: ${message}\n`,
  })
}
