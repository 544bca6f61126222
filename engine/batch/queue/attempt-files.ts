import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readIfThere, writeOnce } from '../folder/files.ts'
import type { AttemptRecord } from '../folder/records.ts'
import type { Step } from '../folder/step.ts'
import type { Outcome } from '../outcome.ts'
import type { RunMessage } from '../run/supervisor-messages.ts'

/** Files, in an attempt's folder, through which the batch's coordinator and a worker communicate. Both can write to the files. */

/** Asks the worker of an attempt to end the attempt. */
export function askToEnd(folder: BatchFolder, trial: string, attempt: number, owner: number): void {
  writeOnce(join(folder.attemptPath(trial, attempt), 'end-asked'), '', owner)
}

export function isEndAsked(folder: BatchFolder, trial: string, attempt: number): boolean {
  return existsSync(join(folder.attemptPath(trial, attempt), 'end-asked'))
}

/** Claims an attempt for a worker. @returns false if the attempt has already been claimed, even by the same worker */
export function claimAttempt(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  worker: string,
  owner: number,
): boolean {
  // The claim needn't survive a crash of the machine, because the worker doesn't survive the crash either.
  return writeOnce(join(folder.attemptPath(trial, attempt), 'worker'), `${worker}\n`, owner, false)
}

/** Stores the progress of a run in the folder, where observers can read it. */
type StepWriter = { readonly tell: (message: RunMessage) => void; readonly end: () => void }

/**
 * The minimum time that passes after a write before a new step is written, in milliseconds. A run reports steps more often than observers read them,
 * so of several steps in quick succession, only the last is written.
 */
const betweenStepsMs = 300

/**
 * Stores the progress that a run reports in its messages, until `end` is called. What the run has spent is stored at once, because its worker may be killed.
 */
export function stepWriter(folder: BatchFolder, trial: string, attempt: number): StepWriter {
  const now: Step = { what: 'starting', turns: 0, tokens: 0 }
  let writtenAt = 0
  let waiting: NodeJS.Timeout | undefined
  const write = (): void => {
    clearTimeout(waiting)
    waiting = undefined
    writtenAt = Date.now()
    folder.writeStep(trial, attempt, now)
  }
  const writeLater = (): void => {
    try {
      write()
    } catch {
      // The error is not reported here: if the folder can't be written to, another error is reported when the run ends.
    }
  }
  const tell = (message: RunMessage): void => {
    if (message.type === 'step') now.what = message.what
    else if (message.type === 'spent')
      Object.assign(now, { turns: message.turns, tokens: message.tokens, cost_usd: message.cost_usd })
    else if (message.type !== 'began') return
    const wait = writtenAt + betweenStepsMs - Date.now()
    if (wait <= 0 || message.type === 'spent') write()
    else waiting ??= setTimeout(writeLater, wait)
  }
  return { tell, end: () => clearTimeout(waiting) }
}

/** The worker that claimed an attempt; undefined if none has. */
export function claimantOf(folder: BatchFolder, trial: string, attempt: number): string | undefined {
  return readIfThere(join(folder.attemptPath(trial, attempt), 'worker'))?.trim()
}

/** The id of the job for an attempt. A job with any other id is not genuine. */
export function jobIdOf(trial: string, attempt: number): string {
  return `${createHash('sha256').update(trial).digest('hex').slice(0, 24)}-${attempt}`
}

/** The progress of a run, as messages; empty if the run has not reported any. */
export function readSteps(folder: BatchFolder, trial: string, attempt: number): readonly RunMessage[] {
  const step = folder.stepOf(trial, attempt)
  if (step === undefined) return []
  const { what, ...spent } = step
  return [
    { type: 'step', what },
    { type: 'spent', ...spent },
  ]
}

/**
 * Records how an attempt ended when no worker is expected to report it.
 *
 * @param reserved the maximum that the attempt may have cost, in US dollars
 * @returns the record that counts: the one from this call or, if a worker has already reported the end, the worker's
 */
export function endWithoutRun(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  outcome: Outcome,
  error: string,
  reserved?: number,
): AttemptRecord {
  return folder.endAttempt({
    ...{ version: 1, trial, attempt, outcome, error, turns: 0, files: 0, duration_ms: 0 },
    ...(reserved === undefined ? {} : { reserved_usd: reserved }),
    tokens: { input: 0, cached: 0, output: 0 },
    ended: new Date().toISOString(),
  })
}
