import type { BatchFolder } from '../folder/batch-folder.ts'
import { readWish, removeWish } from '../folder/wish.ts'
import type { Trial } from '../trials.ts'
import { claimantOf, jobIdOf } from './attempt-files.ts'
import type { JobQueue } from './redis.ts'
import type { Relay } from './relay.ts'

type Dependencies = {
  readonly folder: BatchFolder
  readonly trials: readonly Trial[]
  /** The queue for the jobs of a trial. */
  readonly queueOf: (trial: Trial) => JobQueue
  /** Carries them where the folder is not shared. */
  readonly relay: Relay | undefined
}

/**
 * Takes back the jobs of an earlier start that no worker has begun: they are given out again with what this start reserves for them. The queue decides
 * who is first, this or a worker; what a worker has keeps the limit that it was told.
 */
export async function takeBackUnclaimed({ folder, trials, queueOf, relay }: Dependencies): Promise<void> {
  for (const trial of trials) {
    const attempt = folder.attempts(trial.key).at(-1)
    if (attempt === undefined || folder.attemptOf(trial.key, attempt) !== undefined) continue
    if (readWish(folder, trial.key, attempt) === undefined) continue
    const isClaimed = async (): Promise<boolean> =>
      claimantOf(folder, trial.key, attempt) !== undefined ||
      // What can't be read was claimed by somebody.
      ((await relay?.isClaimed(trial.key, attempt).catch(() => true)) ?? false)
    if (await isClaimed()) continue
    const isBack = await queueOf(trial)
      .takeBack(jobIdOf(trial.key, attempt))
      .catch(() => false)
    if (isBack && !(await isClaimed())) removeWish(folder, trial.key, attempt)
  }
}
