import process from 'node:process'
import { jsonlSink } from '../display/jsonl.ts'
import { exitCodes, type EndReason } from '../core/exit-codes.ts'
import { Recorder } from '../run/recorder.ts'
import { truncateMiddle } from '../core/text/truncate.ts'
import { UserError } from '../core/user-error.ts'

/** The progress of `agent exec`, which decides what to report when it fails early. */
export type Progress = {
  /** The request is known; from here on the run handles signals itself. */
  readonly ready: () => void
  /** The run has emitted its terminal event, with this exit code. */
  readonly ended: (exitCode: number) => void
}

/** The longest message in one event. */
const longestMessage = 16 * 1024

/**
 * Makes an `agent exec` that fails before its first event end like any other: with `--json` by a terminal event that has the reason and the
 * exit code, and by its documented exit code, also where a signal comes this early. A run that has emitted its terminal event keeps that
 * result, whatever fails afterwards.
 *
 * @param json whether events are wanted
 * @throws what the start threw, once the event is out
 */
export async function reportStartupFailure(
  json: boolean,
  start: (progress: Progress) => Promise<number>,
): Promise<number> {
  let told: number | undefined
  const unhandle = handleSignals(json)
  try {
    return await start({ ready: unhandle, ended: (exitCode) => (told = exitCode) })
  } catch (error) {
    const { message } = error as Error
    if (told === undefined) {
      if (json) tellFailure(error instanceof UserError ? error.reason : 'failed', message)
      throw error
    }
    process.stderr.write(`agent: after the run's end: ${message}\n`)
    return told
  } finally {
    unhandle()
  }
}

/** Prints the last events of a run that could not begin. */
export function tellFailure(reason: EndReason, message: string): void {
  process.stdout.write(failureLines(reason, message))
}

/** The last events of a run that ends before it can report its end, as lines. */
export function failureLines(reason: EndReason, message: string): string {
  let lines = ''
  const json = jsonlSink((line) => {
    lines += line
    return true
  })
  new Recorder([json]).end(reason, truncateMiddle(message, longestMessage).text)
  return lines
}

/** Nothing runs yet that would need a clean end after a signal. */
function handleSignals(json: boolean): () => void {
  const stop = (reason: 'interrupted' | 'terminated', message: string) => (): void => {
    if (json) tellFailure(reason, message)
    process.stderr.write(`agent: ${message}\n`)
    process.stdout.write('', () => process.exit(exitCodes[reason]))
  }
  const handlers = [
    ['SIGINT', stop('interrupted', 'Interrupted.')],
    ['SIGTERM', stop('terminated', 'Stopped by SIGTERM.')],
    ['SIGHUP', stop('terminated', 'Stopped by SIGHUP.')],
  ] as const
  for (const [name, handler] of handlers) process.once(name, handler)
  return () => {
    for (const [name, handler] of handlers) process.off(name, handler)
  }
}
