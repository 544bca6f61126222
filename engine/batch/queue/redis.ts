import { createHash } from 'node:crypto'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import type { Labels } from '../labels.ts'
import type { Carrier } from './carrier.ts'
import type { Job } from './packages.ts'

/**
 * The whole content of a job in Redis. It contains so little that an attacker with write access to Redis can only choose among the known trials of the batch.
 */
export const jobData = z.strictObject({
  batch: z.string().max(100),
  task: z.string().max(1000),
  manifest: z.string().max(100),
})

export type JobData = z.infer<typeof jobData>

const prefix = 'portcullis'
const keptFailures = 1000
const steerMs = 5000

/** The jobs of one batch that need the same labels, for the process that hands them out. */
export type JobQueue = {
  /** Adds a job. If there is a job with this id already, nothing is added. */
  readonly add: (id: string, data: JobData) => Promise<void>
  /** Removes a job. @returns false if it can't be removed, because a worker is running it; otherwise true, even if there is no such job */
  readonly takeBack: (id: string) => Promise<boolean>
  /** The state of a job, and the reason if it failed; `missing` if there is no such job. */
  readonly look: (id: string) => Promise<{ readonly state: 'there' | 'missing' | 'failed'; readonly reason?: string }>
  /** Deletes all jobs. */
  readonly clear: () => Promise<void>
  readonly close: () => Promise<void>
}

/**
 * Opens the queue for the jobs of a batch that need the given labels.
 *
 * @param batch the batch's hash
 * @param labels the labels that a worker needs for the jobs of this queue. There is one queue for each set of labels
 */
export function openJobQueue({ packages, redis }: Carrier, batch: string, labels: Labels = []): JobQueue {
  const queue = new packages.Queue(nameOf(batch, labels), { connection: redis, prefix })
  queue.on('error', () => undefined)
  return {
    add: async (id, data) => {
      await queue.add('run', data, {
        jobId: id,
        attempts: 1,
        stackTraceLimit: 0,
        removeOnComplete: true,
        removeOnFail: { count: keptFailures },
      })
    },
    takeBack: async (id) => {
      const job = await queue.getJob(id)
      if (job === undefined) return true
      return job.remove().then(
        () => true,
        () => false,
      )
    },
    look: async (id) => {
      const job = await queue.getJob(id)
      if (job === undefined) return { state: 'missing' }
      if ((await job.getState()) !== 'failed') return { state: 'there' }
      return { state: 'failed', reason: job.failedReason ?? 'it failed' }
    },
    clear: () => queue.obliterate({ force: true }),
    close: () => queue.close(),
  }
}

export type JobWorkerOptions = {
  /** The labels of the queues from which the worker takes jobs. */
  readonly labelSets: readonly Labels[]
  /** The maximum number of jobs that run at the same time, counting those from all queues. */
  readonly concurrency: number
  readonly lockMs: number
  /** Called with a job's id each time the job's lock has been renewed. */
  readonly renewed: (id: string) => void
  readonly say: (sentence: string) => void
}

/**
 * Takes the jobs of one batch and runs them.
 *
 * @param act runs one job. It throws a `UserError` if it refuses the job
 * @returns a function that stops taking jobs and resolves when the running jobs have ended
 */
export function openJobWorker(
  { packages, redis }: Carrier,
  batch: string,
  act: (id: string, data: unknown) => Promise<void>,
  { labelSets, concurrency, lockMs, renewed, say }: JobWorkerOptions,
): () => Promise<void> {
  let busy = 0
  const doOne = async ({ id = '', data }: Job): Promise<void> => {
    try {
      await act(id, data)
    } catch (error) {
      if (error instanceof UserError) {
        say(`a job was refused: ${error.message}`)
        throw new packages.UnrecoverableError(error.message)
      }
      // Redis keeps the message that is thrown here. Because the error may name paths and repositories, its details are reported only on this machine.
      say(`a job could not be carried out: ${(error as Error).message}`)
      throw new packages.UnrecoverableError("its worker could not carry it out; the worker's own output says why")
    }
  }
  const take = async (job: Job, token = ''): Promise<void> => {
    if (busy >= concurrency) {
      // This worker already runs its maximum number of jobs; the job was taken before its queue could be paused. It goes back to the queue, because
      // another worker may be free.
      await job.moveToWait(token)
      throw new packages.WaitingError()
    }
    busy += 1
    steer()
    try {
      await doOne(job)
    } finally {
      busy -= 1
      steer()
    }
  }
  const workers = labelSets.map((labels) => {
    const worker = new packages.Worker(nameOf(batch, labels), take, {
      ...{ connection: redis, prefix, concurrency, lockDuration: lockMs },
      // A lock is renewed four times within its duration, so no run is lost if Redis is unreachable for half of the duration.
      lockRenewTime: lockMs / 4,
      stalledInterval: Math.max(1000, lockMs / 4),
      // The batch itself limits how many times a trial may lose its worker, so BullMQ's own limit must never take effect.
      maxStalledCount: 1000,
    })
    worker.on('error', () => undefined)
    worker.on('locksRenewed', (event) => {
      const { jobIds } = (event ?? {}) as { readonly jobIds?: readonly string[] }
      for (const id of jobIds ?? []) renewed(id)
    })
    return worker
  })
  /** Pauses all queues while the maximum number of jobs is running. This isn't necessary for a single queue, because its own limit is enough. */
  function steer(): void {
    if (workers.length < 2) return
    for (const worker of workers) (busy >= concurrency ? worker.pause(true) : worker.resume()).catch(() => undefined)
  }
  // This is repeated at intervals, because a queue that was resumed just before its pause took effect would otherwise stay paused for ever.
  const steering = setInterval(steer, steerMs)
  return async () => {
    clearInterval(steering)
    await Promise.all(workers.map((worker) => worker.close()))
  }
}

/** The name of a queue. The queue for jobs without labels has the same name as in versions of this program that didn't support labels. */
function nameOf(batch: string, labels: Labels): string {
  const needs = labels.length === 0 ? '' : `-${createHash('sha256').update(labels.join()).digest('hex').slice(0, 12)}`
  return `batch-${batch.slice(0, 16)}${needs}`
}
