import process from 'node:process'
import { jsonlSink } from '../display/jsonl.ts'
import type { EndReason } from '../core/exit-codes.ts'
import { Recorder } from '../run/recorder.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { explainSystemFault } from '../core/system-fault.ts'
import { UserError } from '../core/user-error.ts'
import { codeOf, keepExitCode, leave, onSignals } from './interrupts.ts'
import { printJsonText, tell, tellMessage, rawOutput } from './print.ts'

/** The functions with which `agent exec` reports how far it has come. What is printed if it fails depends on that. */
export type Progress = {
  /** Reports that the request has been checked. From then on, the run handles signals itself. */
  readonly ready: () => void
  /** Reports that the run has emitted its terminal event, and with which exit code it ends. */
  readonly ended: (exitCode: number) => void
}

/** The maximum length of a message in one event, in characters. */
const longestMessage = 16 * 1024

/**
 * Ensures that an `agent exec` that fails before its first event ends like any other run: with the documented exit code and, with `--json`, with a
 * terminal event that contains the reason and the exit code. The same applies if a signal arrives before the run handles signals itself. If a run has
 * already emitted its terminal event, that result counts, even if something fails afterwards.
 *
 * @param json whether events are printed
 * @returns the exit code
 * @throws the error that `start` threw, after printing the terminal event if `json` is true; not thrown if the run had already emitted that event
 */
export async function reportStartupFailure(
  json: boolean,
  start: (progress: Progress) => Promise<number>,
): Promise<number> {
  let told: number | undefined
  const unhandle = handleSignals(json)
  try {
    const ended = (exitCode: number): void => {
      told = exitCode
      keepExitCode(exitCode)
    }
    return await start({ ready: unhandle, ended })
  } catch (error) {
    const message = explainSystemFault(error) ?? (error as Error).message
    if (told === undefined) {
      if (json) tellFailure(error instanceof UserError ? error.reason : 'failed', message)
      throw error
    }
    tellMessage('agent', `after the run had ended: ${message}`)
    return told
  } finally {
    unhandle()
  }
}

/** Prints the last events of a run that could not begin. */
export function tellFailure(reason: EndReason, message: string): void {
  printJsonText(failureLines(reason, message))
}

/** Returns the events that report the end of a run, as lines of JSON, for a run that ends too early to report its end itself. */
export function failureLines(reason: EndReason, message: string): string {
  let lines = ''
  const json = jsonlSink((line) => {
    lines += line
    return true
  })
  new Recorder([json], undefined, undefined, {}, undefined, process.env).end(
    reason,
    truncateMiddle(message, longestMessage).text,
  )
  return lines
}

/** Makes signals end the process: nothing is running yet that needs a clean end. Returns a function that removes the handler. */
function handleSignals(json: boolean): () => void {
  let isEnding = false
  return onSignals((reason, signal = 'SIGTERM') => {
    if (isEnding) return
    isEnding = true
    const message = reason === 'interrupted' ? 'Interrupted.' : `Stopped by ${signal}.`
    if (json) tellFailure(reason === 'interrupted' ? reason : 'terminated', message)
    tell(`agent: ${message}`)
    rawOutput.stdout.write('', () => leave(codeOf(reason)))
  })
}
