import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readIfThere, writeOnce, writeWhole } from '../folder/files.ts'
import type { AttemptRecord } from '../folder/records.ts'
import type { Outcome } from '../outcome.ts'
import type { RunMessage } from '../run/messages.ts'

/** What the coordinator of a batch and a worker tell each other of an attempt: files of its folder, which both can write to. */

const step = z.object({ what: z.string(), turns: z.int(), tokens: z.int(), cost_usd: z.number().optional() })

/** Asks whoever makes an attempt to end it. */
export function askToEnd(folder: BatchFolder, trial: string, attempt: number, owner: number): void {
  writeOnce(join(folder.attemptPath(trial, attempt), 'end-asked'), '', owner)
}

export function isEndAsked(folder: BatchFolder, trial: string, attempt: number): boolean {
  return existsSync(join(folder.attemptPath(trial, attempt), 'end-asked'))
}

/** Claims an attempt for a worker. @returns false where one has it, or had it */
export function claimAttempt(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  worker: string,
  owner: number,
): boolean {
  return writeOnce(join(folder.attemptPath(trial, attempt), 'worker'), `${worker}\n`, owner)
}

/** Keeps what a run is at for those who watch. @returns takes what it says */
export function stepWriter(
  folder: BatchFolder,
  trial: string,
  attempt: number,
  owner: number,
): (message: RunMessage) => void {
  const now: z.infer<typeof step> = { what: 'starting', turns: 0, tokens: 0 }
  return (message) => {
    if (message.type === 'step') now.what = message.what
    else if (message.type === 'spent')
      Object.assign(now, { turns: message.turns, tokens: message.tokens, cost_usd: message.cost_usd })
    else if (message.type !== 'began') return
    writeWhole(join(folder.attemptPath(trial, attempt), 'step.json'), JSON.stringify(now), owner)
  }
}

/** The worker that claimed an attempt; undefined where none has. */
export function claimantOf(folder: BatchFolder, trial: string, attempt: number): string | undefined {
  return readIfThere(join(folder.attemptPath(trial, attempt), 'worker'))?.trim()
}

/** The id of the job of an attempt: a job with another is none that was given out. */
export function jobIdOf(trial: string, attempt: number): string {
  return `${createHash('sha256').update(trial).digest('hex').slice(0, 24)}-${attempt}`
}

/** What a run is at, as messages of it; none where it has not begun. */
export function readSteps(folder: BatchFolder, trial: string, attempt: number): readonly RunMessage[] {
  const text = readIfThere(join(folder.attemptPath(trial, attempt), 'step.json'))
  if (text === undefined) return []
  const { what, ...spent } = step.parse(JSON.parse(text))
  return [
    { type: 'step', what },
    { type: 'spent', ...spent },
  ]
}

/**
 * Ends an attempt that no worker says the end of.
 *
 * @param reserved what it may have cost all the same, in US dollars
 * @returns how it ended: as this says, or as a worker said before
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
