import { join } from 'node:path'
import { writeDerived } from '../derived/write-derived.ts'
import type { Summary, TrialResult } from '../derived/results.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { costOfTrial } from '../folder/costs.ts'
import { writeControl } from '../folder/control.ts'
import { mendLastLine } from '../folder/files.ts'
import { attemptOnQueue } from '../queue/queue-attempt.ts'
import { BatchQueues } from '../queue/batch-queues.ts'
import type { Carrier } from '../queue/redis.ts'
import { watchRefusals } from '../queue/shared-limiter.ts'
import { leaseFolder } from '../folder/supervisor-lock.ts'
import type { RateLimits } from '../../core/request-gate.ts'
import type { Task } from '../tasks/task.ts'
import type { Trial } from '../trials.ts'
import { Git } from './git.ts'
import { attemptHere } from './make-attempt.ts'
import type { RunMessage } from './messages.ts'
import { Progress } from './progress.ts'
import { recoverAttempts } from './recover-attempts.ts'
import { QuotaPause } from './quota-pause.ts'
import { RateLimiter } from './rate-limiter.ts'
import { Repositories } from './repositories.ts'
import { isOpen } from './settle-trial.ts'
import type { AgentProgram } from './start-run.ts'
import { Supervisor, type Attempt, type BatchEnd } from './supervisor.ts'

type RunBatchOptions = {
  /** So many runs at once. Undefined: as many as there are places for at workers, else the usual number. */
  readonly workers: number | undefined
  readonly attempts: number
  readonly maxCost: number | undefined
  /** What each provider's key and model may be asked in a minute; undefined: what the provider says. */
  readonly limits: RateLimits
  readonly backoffMs: number
  readonly program: AgentProgram
  /** This process. */
  readonly process: number
  readonly kill: (pid: number) => void
  readonly signal: AbortSignal
  /**
   * Looks whether runs could begin, before the first does.
   *
   * @throws UserError for what is wrong
   */
  readonly check: (tree: string, models: readonly string[]) => Promise<void>
  /** Given how far it is, to be looked at as often as one likes. */
  readonly watch: (progress: Progress) => void
  /** Told of what a watcher should know at once. */
  readonly say: (sentence: string) => void
  /** Has workers make the attempts. Undefined: they are made here. */
  readonly carrier: Carrier | undefined
}

/** How a batch ended, and what it came to. */
export type BatchResult = {
  readonly end: BatchEnd
  readonly progress: Progress
  readonly summary: Summary
  readonly results: readonly TrialResult[]
}

const statusMs = 1000
/** So many runs at once, where nobody says. */
const usualWorkers = 4

/**
 * Runs what is missing of a batch, here: each run is a process of this machine.
 *
 * @throws UserError `usage` where another process supervises the folder, and for what `check` finds
 */
export async function runBatch(folder: BatchFolder, options: RunBatchOptions): Promise<BatchResult> {
  const { process, program, signal } = options
  const lease = leaseFolder(folder.path, process)
  try {
    mendLastLine(join(folder.path, 'journal.jsonl'))
    // What was asked of an earlier start is over.
    writeControl(
      folder.path,
      { paused: false, cancelled: false, workers: undefined, rpm: options.limits.requests, tpm: options.limits.tokens },
      process,
    )
    const tasks = folder.tasks()
    const trials = folder.trials(tasks)
    const { carrier } = options
    // What workers were given they go on with.
    const lost = carrier === undefined ? await recoverAttempts(folder, trials, options.kill) : 0
    if (lost > 0)
      options.say(`${lost} runs of an earlier start had no result; what their sessions say is written down.`)
    const repositories = new Repositories(folder.path, new Git(program.environment), process)
    // The keys are the workers' own.
    if (carrier === undefined) await checkFirst(folder, trials, tasks, repositories, options)
    // Before it is said how far the batch is.
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
      usedUp: ({ provider, model }, until) => pause(`nothing is left to use of ${model} at ${provider}`, until),
    })
    const tell = (trial: Trial, message: RunMessage): void => progress.said(trial, message)
    const queues = carrier === undefined ? undefined : new BatchQueues(carrier, folder, tasks)
    const open = new Map(
      trials.flatMap((trial) => (folder.settled(trial.key) === undefined ? [[trial.key, trial]] : [])),
    )
    const pause = (why: string, until: number | undefined): void =>
      supervisor.pause(why, quota.until(Date.now(), until))
    const attempt: Attempt =
      queues === undefined
        ? attemptHere({ ...{ folder, tasks: byId, repositories, program, limiter, process }, tell })
        : attemptOnQueue({
            ...{ folder, queueOf: (trial) => queues.queueOf(trial), process, tell, say: options.say },
            usedUp: (until) => pause('nothing is left to use at the provider', until),
          })
    const supervisor: Supervisor = new Supervisor(folder, attempt, {
      workers: () => options.workers ?? (queues === undefined ? usualWorkers : Math.max(1, queues.places())),
      // What a worker takes next is there when it has ended a run.
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
    const unwatch =
      carrier === undefined ? undefined : watchRefusals(carrier, folder.hash, () => supervisor.throttled())
    const end = await supervisor.run(trials).finally(() => {
      clearInterval(writing)
      unwatch?.()
    })
    await queues?.close()
    writeStatus()
    return { end, progress, ...writeDerived(folder, trials) }
  } finally {
    lease.release()
  }
}

/** On a checkout of the first task that is open: what is wrong with the configuration would be wrong with every run. */
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
  // One that can't be cloned is that task's own trouble.
  const checkout = await repositories.checkOut(task.repository).catch(() => undefined)
  if (checkout !== undefined) await check(checkout.tree, folder.manifest.models)
}

function costBefore(folder: BatchFolder, trials: readonly Trial[]): number {
  return trials.map(({ key }) => costOfTrial(folder, key) ?? 0).reduce((sum, cost) => sum + cost, 0)
}
