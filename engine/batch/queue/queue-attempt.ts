import { setTimeout as sleep } from 'node:timers/promises'
import type { BatchFolder } from '../folder/batch-folder.ts'
import type { AttemptRecord } from '../folder/records.ts'
import { isAnswer, type Outcome } from '../outcome.ts'
import { writeWish } from '../folder/wish.ts'
import type { RunMessage } from '../run/supervisor-messages.ts'
import type { Attempt } from '../run/supervisor.ts'
import type { Trial } from '../trials.ts'
import { askToEnd, endWithoutRun, jobIdOf, readSteps } from './attempt-files.ts'
import type { FarWorkers } from './far-workers.ts'
import { answerInTime, PendingQuestion } from './pending-question.ts'
import type { JobQueue } from './redis.ts'

const lookMs = 250
/** The time between two readings of the progress of a run, in milliseconds. */
const stepsMs = 900
/** The time between two queries to Redis about a job whose result hasn't arrived, in milliseconds. */
const askMs = 5000
/** How long a worker may take to stop a run that is no longer wanted, in milliseconds. */
const graceMs = 45_000

type QueueDependencies = {
  readonly folder: BatchFolder
  /** The queue for the jobs of a trial. */
  readonly queueOf: (trial: Trial) => JobQueue
  /** The workers that don't share the folder. Undefined: all workers share it. */
  readonly far: FarWorkers | undefined
  readonly process: number
  readonly tell: (trial: Trial, message: RunMessage) => void
  /** Receives sentences that the user should read. */
  readonly say: (sentence: string) => void
  /** Called when a provider's quota is exhausted. `until` is defined if the provider says when quota will be available again. */
  readonly usedUp: (until: number | undefined) => void
}

/** The state of a job in Redis. */
type Seen = Awaited<ReturnType<JobQueue['look']>>

/**
 * Returns a function that has workers carry out attempts. It puts a job for the attempt into a queue, and waits until the attempt's result is in the
 * folder. If the job fails, or if the attempt is interrupted and no worker reports its end, the function records the end itself.
 */
export function attemptOnQueue({ folder, queueOf, far, process, tell, say, usedUp }: QueueDependencies): Attempt {
  let isFullTold = false
  return async (trial, attempt, { maxCost, began }, signal) => {
    const [id, queue] = [jobIdOf(trial.key, attempt), queueOf(trial)]
    writeWish(folder, trial.key, attempt, maxCost, process)
    let [isOut, askedAt, readAt, endAt] = [false, Date.now(), 0, Infinity]
    const [givenOut, look] = [new PendingQuestion<boolean>(), new PendingQuestion<Seen>()]
    folder.note({ type: 'attempt-started', trial: trial.key, attempt })
    const endUnseen = async (outcome: Outcome, why: string): Promise<AttemptRecord> => {
      // The last report of the attempt's worker may not be in the folder yet.
      if (far !== undefined) await answerInTime(far.takeStep(trial.key, attempt), undefined)
      return endWithoutRun(folder, trial.key, attempt, outcome, why, maxCost)
    }
    for (;;) {
      const record = folder.attemptOf(trial.key, attempt)
      if (record !== undefined) {
        // If the run ended before its progress was read for the first time, `began` has not been called yet.
        if (isAnswer(record.outcome)) began()
        return ended(record)
      }
      if (Date.now() - readAt > stepsMs) {
        readAt = Date.now()
        const steps = readSteps(folder, trial.key, attempt)
        if (steps.length > 0) began()
        for (const message of steps) tell(trial, message)
      }
      if (signal.aborted) {
        if (endAt === Infinity) {
          if (!(isOut || givenOut.isOpen) || (await answerInTime(queue.takeBack(id), false)))
            return endWithoutRun(folder, trial.key, attempt, 'interrupted', 'not begun')
          askToEnd(folder, trial.key, attempt, process)
          if (far !== undefined) await answerInTime(far.askToEnd(trial.key, attempt), undefined)
          endAt = Date.now() + graceMs
        }
        if (Date.now() > endAt) return endUnseen('interrupted', 'the worker of this run did not answer')
      } else if (!isOut) {
        const answer = givenOut.take()
        if (answer === undefined) givenOut.ask(() => giveOut(trial, attempt, maxCost).then(() => true, told))
        isOut = answer ?? false
      } else if (Date.now() - askedAt > askMs) {
        const seen = look.take()
        if (seen === undefined) look.ask(() => queue.look(id).catch((): Seen => ({ state: 'there' })))
        else askedAt = Date.now()
        // If Redis lost the job, it is added again. If a worker already has the job, the next worker that gets the job sees the first worker's claim.
        if (seen?.state === 'missing' && folder.attemptOf(trial.key, attempt) === undefined) isOut = false
        if (seen?.state === 'failed') return endUnseen('infrastructure', seen.reason ?? 'its job failed')
      }
      await sleep(lookMs)
    }
  }

  async function giveOut(trial: Trial, attempt: number, maxCost: number | undefined): Promise<void> {
    await far?.giveOut(trial.key, attempt, maxCost)
    const job = { batch: folder.hash, task: trial.key, manifest: folder.hash }
    await queueOf(trial).add(jobIdOf(trial.key, attempt), job)
  }

  function ended(record: AttemptRecord): AttemptRecord {
    if (record.outcome === 'quota') usedUp(record.retry_at === undefined ? undefined : Date.parse(record.retry_at))
    return record
  }

  /** Called if a job could not be handed out, for example because Redis is full or unreachable. Tells the user once; the caller tries again later. */
  function told(error: Error): false {
    if (!isFullTold)
      say(`Jobs can't be assigned to workers: ${error.message}. The batch tries again until it succeeds.`)
    isFullTold = true
    return false
  }
}
