import type { BatchFolder } from '../folder/batch-folder.ts'
import { costOfTrial } from '../folder/costs.ts'
import type { AttemptRecord, SettledRecord } from '../folder/records.ts'
import { isAnswer, isRepeated, type Outcome } from '../outcome.ts'
import type { Trial } from '../trials.ts'

/** A trial whose worker was lost so often is not given to another: it may be what kills them. */
const mostLost = 2

/**
 * What is to become of a trial after its attempts: an answer settles it, and so does the last failure of those it may have.
 *
 * @param ended its attempts that count, in order
 * @param mostAttempts how many attempts may end without an answer
 */
export function judgeTrial(ended: readonly Pick<AttemptRecord, 'outcome'>[], mostAttempts: number): 'open' | 'settled' {
  const last = ended.at(-1)?.outcome
  if (last === undefined) return 'open'
  if (isAnswer(last) || !isRepeated(last)) return 'settled'
  const count = (outcome: Outcome): number => ended.filter((each) => each.outcome === outcome).length
  if (count('lost') >= mostLost) return 'settled'
  // Whoever interrupted a run did not find out what it would come to, nor did one that had no credit.
  return ended.length - count('interrupted') - count('quota') >= mostAttempts ? 'settled' : 'open'
}

/** The attempts of a trial that count, as far as they have ended. */
export function endedAttempts(folder: BatchFolder, trial: string): readonly AttemptRecord[] {
  const from = folder.reopenedAfter(trial)
  return folder
    .attempts(trial)
    .filter((attempt) => attempt > from)
    .flatMap((attempt) => folder.attemptOf(trial, attempt) ?? [])
}

/**
 * Whether a trial is open, after attempts of an earlier start. One of them may settle it still, where whoever made it was killed before it could.
 *
 * @param mostAttempts how many may end without an answer
 */
export function isOpen(folder: BatchFolder, trial: Trial, mostAttempts: number): boolean {
  if (folder.settled(trial.key) !== undefined) return false
  const ended = endedAttempts(folder, trial.key)
  const last = ended.at(-1)
  // What was wrong with the configuration may be mended by now.
  if (last === undefined || last.outcome === 'usage' || judgeTrial(ended, mostAttempts) === 'open') return true
  settleTrial(folder, trial, last)
  return false
}

/**
 * Settles a trial by an attempt of it.
 *
 * @returns false where it was settled already: then this attempt is superseded, and its cost counts all the same
 */
export function settleTrial(folder: BatchFolder, trial: Trial, by: AttemptRecord): boolean {
  const all = folder.attempts(trial.key).flatMap((attempt) => folder.attemptOf(trial.key, attempt) ?? [])
  const total = costOfTrial(folder, trial.key)
  const settled: SettledRecord = {
    ...by,
    task: trial.task,
    ...(trial.model === undefined ? {} : { model: trial.model }),
    repeat: trial.repeat,
    manifest: folder.hash,
    attempts: all.length,
    ...(total === undefined ? {} : { total_cost_usd: total }),
  }
  const isFirst = folder.settle(settled)
  if (isFirst) folder.note({ type: 'settled', trial: trial.key, outcome: by.outcome })
  else folder.note({ type: 'superseded', trial: trial.key, attempt: by.attempt })
  return isFirst
}
