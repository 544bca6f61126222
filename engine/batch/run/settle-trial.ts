import type { BatchFolder } from '../folder/batch-folder.ts'
import { costOfTrial } from '../folder/costs.ts'
import type { AttemptRecord, SettledRecord } from '../folder/records.ts'
import { isAnswer, isRepeated, type Outcome } from '../outcome.ts'
import type { Trial } from '../trials.ts'

/** When this many attempts of a trial were lost, the batch gives up on the trial, because the trial itself may be what kills their processes. */
const mostLost = 2
const longestWaitMs = 300_000

/**
 * Decides whether a trial is settled after its attempts. It is settled by an answer, by an error that another attempt would not avoid, by the loss of
 * too many attempts, or if the maximum number of attempts have ended without an answer.
 *
 * @param ended the finished attempts since the trial was last reopened, in order
 * @param mostAttempts how many attempts may end without an answer
 */
export function judgeTrial(ended: readonly Pick<AttemptRecord, 'outcome'>[], mostAttempts: number): 'open' | 'settled' {
  const last = ended.at(-1)?.outcome
  if (last === undefined) return 'open'
  if (isAnswer(last) || !isRepeated(last)) return 'settled'
  const count = (outcome: Outcome): number => ended.filter((each) => each.outcome === outcome).length
  if (count('lost') >= mostLost) return 'settled'
  // Attempts that were interrupted or ran out of quota are not counted, because their failure wasn't caused by the task.
  return ended.length - count('interrupted') - count('quota') >= mostAttempts ? 'settled' : 'open'
}

/** The finished attempts of a trial since it was last reopened; all of them if it never was. */
export function endedAttempts(folder: BatchFolder, trial: string): readonly AttemptRecord[] {
  const from = folder.reopenedAfter(trial)
  return folder
    .attempts(trial)
    .filter((attempt) => attempt > from)
    .flatMap((attempt) => folder.attemptOf(trial, attempt) ?? [])
}

/**
 * Whether its attempts in earlier starts of the batch show that a trial still needs a run. If these attempts were enough to settle the trial, but
 * the process was killed before it recorded the result, the trial is settled now.
 *
 * @param mostAttempts how many attempts may end without an answer
 */
export function isOpen(folder: BatchFolder, trial: Trial, mostAttempts: number): boolean {
  if (folder.settled(trial.key) !== undefined) return false
  const ended = endedAttempts(folder, trial.key)
  const last = ended.at(-1)
  // After an error in the configuration, the trial stays open, because the error may have been corrected since.
  if (last === undefined || last.outcome === 'usage' || judgeTrial(ended, mostAttempts) === 'open') return true
  settleTrial(folder, trial, last)
  return false
}

/**
 * Settles a trial with the result of one of its attempts.
 *
 * @returns false if the trial was settled already. In that case the given attempt is recorded as superseded, but its cost still counts
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

/**
 * How long a trial waits before its next attempt. The wait doubles with each failure, up to a maximum. It is then shortened at random, by up to half,
 * so that many trials don't retry at the same moment.
 */
export function waitBeforeNext(ended: readonly { readonly outcome: Outcome }[], baseMs: number): number {
  const failures = ended.filter(({ outcome }) => isRepeated(outcome)).length
  return Math.min(longestWaitMs, baseMs * 2 ** Math.max(0, failures - 1)) * (0.5 + Math.random() / 2)
}
