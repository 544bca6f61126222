import { join } from 'node:path'
import { writeDerived } from '../derived/write-derived.ts'
import type { Summary, TrialResult } from '../derived/results.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { sumDollars } from '../../core/money.ts'
import { costOfTrial } from '../folder/costs.ts'
import { writeControl } from '../folder/control.ts'
import { mendLastLine } from '../folder/files.ts'
import { attemptOnQueue } from '../queue/queue-attempt.ts'
import { watchUnserved } from '../queue/watch-unserved.ts'
import { BatchQueues } from '../queue/batch-queues.ts'
import { FarWorkers } from '../queue/far-workers.ts'
import { takeBackUnclaimed } from '../queue/take-back-unclaimed.ts'
import type { Carrier } from '../queue/carrier.ts'
import { watchRefusals } from '../queue/shared-limiter.ts'
import { leaseFolder } from '../folder/supervisor-lock.ts'
import type { RateLimits } from '../../core/request-gate.ts'
import type { Task } from '../tasks/task.ts'
import type { Trial } from '../trials.ts'
import { Git } from './repository-git.ts'
import { attemptHere } from './make-attempt.ts'
import type { RunMessage } from './supervisor-messages.ts'
import { Progress } from './progress.ts'
import { recoverAttempts } from './recover-attempts.ts'
import { QuotaPause } from './quota-pause.ts'
import { RateLimiter } from './rate-limiter.ts'
import { Repositories } from './repositories.ts'
import { isOpen } from './settle-trial.ts'
import type { AgentProgram } from './start-run.ts'
import { Supervisor, type Attempt, type BatchEnd } from './supervisor.ts'
import { counted } from '../../core/text/counted.ts'

type RunBatchOptions = {
  /**
   * The number of simultaneous runs. Undefined: the default number or, if workers in other processes execute the runs, as many as those workers can run at
   * once.
   */
  readonly workers: number | undefined
  readonly attempts: number
  readonly maxCost: number | undefined
  /** The limits per minute for each provider, key and model. If a limit is undefined here, the limit that the provider reports applies. */
  readonly limits: RateLimits
  readonly backoffMs: number
  readonly program: AgentProgram
  /** The id of this process. */
  readonly process: number
  readonly kill: (pid: number) => void
  readonly signal: AbortSignal
  /**
   * Checks whether runs with these models could begin in this work tree. Called before the first run.
   *
   * @throws UserError that names the problem
   */
  readonly check: (tree: string, models: readonly string[]) => Promise<void>
  /** Receives the progress object, which can be read at any time. */
  readonly watch: (progress: Progress) => void
  /** Receives sentences that the user should read at once. */
  readonly say: (sentence: string) => void
  /** The connection to workers that run the attempts. Undefined: the attempts run in this process's own child processes. */
  readonly carrier: Carrier | undefined
  /** Whether tasks and results also go through Redis, to workers that don't share the batch's folder. */
  readonly throughQueue: boolean
}

/** The outcome of a batch and the results of its trials. */
export type BatchResult = {
  readonly end: BatchEnd
  readonly progress: Progress
  readonly summary: Summary
  readonly results: readonly TrialResult[]
}

const statusMs = 1000
/** The default number of simultaneous runs. */
const usualWorkers = 4

/**
 * Runs the trials of a batch that have no result yet, each in its own process.
 *
 * @throws UserError `usage` if another process supervises the folder, if the list of tasks has been changed, or if the tasks are too large for Redis;
 * also the errors that `check` throws
 */
export async function runBatch(folder: BatchFolder, options: RunBatchOptions): Promise<BatchResult> {
  const { process, program, signal } = options
  const lease = leaseFolder(folder.path)
  try {
    mendLastLine(join(folder.path, 'journal.jsonl'))
    // Overwrites the control requests that were meant for an earlier start of this batch, because they no longer apply.
    writeControl(
      folder.path,
      { paused: false, cancelled: false, workers: undefined, rpm: options.limits.requests, tpm: options.limits.tokens },
      process,
    )
    const tasks = folder.tasks()
    const trials = folder.trials(tasks)
    const { carrier } = options
    // Recovery isn't needed if workers run the attempts, because a worker continues the attempts that it was given even if the supervisor that handed
    // them out dies.
    const lost = carrier === undefined ? await recoverAttempts(folder, trials, options.kill) : 0
    if (lost > 0)
      options.say(
        `the batch had recorded no result for ${counted(lost, 'run that was', 'runs that were')} started earlier; ${lost === 1 ? 'its outcome has now been recorded, as far as its session shows it' : 'their outcomes have now been recorded, as far as their sessions show them'}.`,
      )
    const repositories = new Repositories(folder.path, new Git(program.environment), process)
    // The models are not checked if workers run the attempts, because the workers may have API keys that this machine lacks.
    if (carrier === undefined) await checkFirst(folder, trials, tasks, repositories, options)
    // `isOpen` also settles a trial if the batch was killed before it could do so. This must happen before the progress is reported.
    for (const trial of trials) isOpen(folder, trial, options.attempts)
    const settled = trials.flatMap(({ key }) => folder.settled(key)?.outcome ?? [])
    const progress = new Progress(trials.length, settled, costBefore(folder, trials))
    options.watch(progress)
    const byId = new Map(tasks.map((task) => [task.id, task]))
    const quota = new QuotaPause()
    const limiter = new RateLimiter({
      limits: options.limits,
      clock: { now: Date.now, after: (ms, act) => void setTimeout(act, ms).unref() },
      throttled: () => supervisor.throttled(),
      usedUp: ({ provider, model }, until) => pause(`the quota of ${model} at ${provider} is exhausted`, until),
    })
    const tell = (trial: Trial, message: RunMessage): void => progress.said(trial, message)
    const queues = carrier === undefined ? undefined : new BatchQueues(carrier, folder, tasks)
    const far =
      carrier === undefined || !options.throughQueue ? undefined : new FarWorkers(carrier, folder, trials, process)
    await far?.start()
    if (queues !== undefined)
      await takeBackUnclaimed({ folder, trials, queueOf: (trial) => queues.queueOf(trial), far })
    const open = new Map(
      trials.flatMap((trial) => (folder.settled(trial.key) === undefined ? [[trial.key, trial]] : [])),
    )
    const pause = (why: string, until: number | undefined): void =>
      supervisor.pause(why, quota.until(Date.now(), until))
    const attempt: Attempt =
      queues === undefined
        ? attemptHere({ ...{ folder, tasks: byId, repositories, program, limiter, process }, tell })
        : attemptOnQueue({
            ...{ folder, queueOf: (trial) => queues.queueOf(trial), far, process, tell, say: options.say },
            usedUp: (until) => pause("the provider's quota is exhausted", until),
          })
    const supervisor: Supervisor = new Supervisor(folder, attempt, {
      workers: () => options.workers ?? (queues === undefined ? usualWorkers : Math.max(1, queues.places())),
      // Jobs are handed out in advance, so that each worker that finishes a run finds its next job already waiting.
      ahead: () => (options.workers === undefined ? (queues?.places() ?? 0) : 0),
      isHeld: lease.isHeld,
      ...{ attempts: options.attempts, maxCost: options.maxCost },
      ...{ backoffMs: options.backoffMs, signal, process },
      limit: (limits) => limiter.limit(limits),
      mayBegin: (trial) => queues?.mayBegin(trial) ?? true,
      tell: (news) => {
        if (news.type === 'ended' && news.settled) open.delete(news.trial.key)
        if (news.type === 'begun') progress.begun(news.trial)
        else if (news.type === 'ended') progress.ended(news.trial, news.record, news.settled)
        else progress.paused(news.type === 'paused' ? news.why : undefined)
      },
    })
    const writeStatus = (): void => {
      const unserved = queues?.unserved([...open.values()]) ?? []
      folder.derive('status.json', `${JSON.stringify({ ...progress.snapshot(), unserved })}\n`)
    }
    const writing = setInterval(writeStatus, statusMs)
    const unwatchWorkers =
      queues === undefined ? undefined : watchUnserved(() => queues.unserved([...open.values()]), options.say)
    const unwatch =
      carrier === undefined ? undefined : watchRefusals(carrier, folder.hash, () => supervisor.throttled())
    const end = await supervisor.run(trials).finally(() => {
      clearInterval(writing)
      unwatch?.()
      unwatchWorkers?.()
    })
    await far?.close(end.why === 'settled')
    await queues?.close(far !== undefined && end.why === 'settled')
    writeStatus()
    return { end, progress, ...writeDerived(folder, trials) }
  } finally {
    lease.release()
  }
}

/** Checks whether the first open task could run. One task is enough, because an error in the configuration would affect every run. */
async function checkFirst(
  folder: BatchFolder,
  trials: readonly Trial[],
  tasks: readonly Task[],
  repositories: Repositories,
  { check }: RunBatchOptions,
): Promise<void> {
  const open = trials.find(({ key }) => folder.settled(key) === undefined)
  const task = tasks.find(({ id }) => id === open?.task)
  if (task === undefined) return
  // A failure to clone this repository isn't reported here, because the tasks in other repositories may still be able to run.
  const checkout = await repositories.checkOut(task.repository).catch(() => undefined)
  if (checkout !== undefined) await check(checkout.tree, folder.manifest.models)
}

function costBefore(folder: BatchFolder, trials: readonly Trial[]): number {
  return sumDollars(trials.map(({ key }) => costOfTrial(folder, key) ?? 0))
}
