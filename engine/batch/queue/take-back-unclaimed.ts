import type { BatchFolder } from '../folder/batch-folder.ts'
import { readWish, removeWish } from '../folder/wish.ts'
import type { Trial } from '../trials.ts'
import { claimantOf, jobIdOf } from './attempt-files.ts'
import type { FarWorkers } from './far-workers.ts'
import type { JobQueue } from './redis.ts'

type Dependencies = {
  readonly folder: BatchFolder
  readonly trials: readonly Trial[]
  /** The queue for the jobs of a trial. */
  readonly queueOf: (trial: Trial) => JobQueue
  /** The workers that don't share the folder. Undefined: all workers share it. */
  readonly far: FarWorkers | undefined
}

/**
 * Takes back the jobs that an earlier start of the batch handed out but that no worker has begun. This start hands them out again with the budget
 * that it reserves for them. If a worker takes such a job at the same time, the queue decides who gets it. An attempt that a worker has already begun
 * keeps its limit.
 */
export async function takeBackUnclaimed({ folder, trials, queueOf, far }: Dependencies): Promise<void> {
  for (const trial of trials) {
    const attempt = folder.attempts(trial.key).at(-1)
    if (attempt === undefined || folder.attemptOf(trial.key, attempt) !== undefined) continue
    if (readWish(folder, trial.key, attempt) === undefined) continue
    const isClaimed = async (): Promise<boolean> =>
      claimantOf(folder, trial.key, attempt) !== undefined ||
      // A claim that can't be read still counts as a claim.
      ((await far?.isClaimed(trial.key, attempt).catch(() => true)) ?? false)
    if (await isClaimed()) continue
    const isBack = await queueOf(trial)
      .takeBack(jobIdOf(trial.key, attempt))
      .catch(() => false)
    if (isBack && !(await isClaimed())) removeWish(folder, trial.key, attempt)
  }
}
