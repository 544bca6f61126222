import { hostname } from 'node:os'
import { join } from 'node:path'
import { mkdirSync } from 'node:fs'
import { removeTree } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import type { RateLimits } from '../../core/request-gate.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readControl } from '../folder/control.ts'
import { readWish } from '../folder/wish.ts'
import { hasLabels, labelSetsOf, type Labels } from '../labels.ts'
import { finishAttempt } from '../run/finish-attempt.ts'
import { Git } from '../run/git.ts'
import { attemptHere } from '../run/make-attempt.ts'
import { RateLimiter } from '../run/rate-limiter.ts'
import { Repositories } from '../run/repositories.ts'
import type { AgentProgram } from '../run/start-run.ts'
import type { Trial } from '../trials.ts'
import { claimAttempt, claimantOf, isEndAsked, jobIdOf, stepWriter } from './attempt-files.ts'
import { SharedRateLimiter } from './shared-limiter.ts'
import { jobData, openJobWorker, type Carrier } from './redis.ts'
import { beatMs, countAlive, endBeat, isWorking, registryOf, writeBeat } from './worker-registry.ts'

type WorkOptions = {
  /** The labels of this worker's machine: it takes no task that needs another label. */
  readonly labels: Labels
  readonly workers: number
  readonly lockMs: number
  readonly program: AgentProgram
  readonly process: number
  readonly signal: AbortSignal
  readonly say: (sentence: string) => void
}

const lookMs = 500

type Work = { readonly done: Promise<void>; readonly stop: (why: string) => void; renewed: number }

/**
 * Runs the jobs of a batch until it is stopped: each is a run in a process of its own, and its result is written to the folder. A lock that is not
 * renewed ends its run before another worker may begin it.
 *
 * @param folder the batch's own, which the coordinator writes to too
 */
export async function work(folder: BatchFolder, carrier: Carrier, options: WorkOptions): Promise<void> {
  const { workers, labels, lockMs, program, process, signal, say } = options
  const name = `${hostname()}-${process}`
  const registry = registryOf(folder)
  mkdirSync(join(registry, name), { recursive: true, mode: 0o700 })
  // A job for another task is refused, whichever queue it comes from.
  const own = folder.tasks().filter((task) => hasLabels(labels, task.labels))
  const tasks = new Map(own.map((task) => [task.id, task]))
  const trials = new Map(
    folder.trials(folder.tasks()).flatMap((trial) => (tasks.has(trial.task) ? [[trial.key, trial]] : [])),
  )
  const alone = new RateLimiter({
    limits: { requests: undefined, tokens: undefined },
    clock: { now: Date.now, after: (ms, act) => void setTimeout(act, ms).unref() },
    throttled: () => undefined,
    usedUp: () => undefined,
  })
  const limiter = new SharedRateLimiter(carrier, {
    ...{ batch: folder.hash, alone, say },
    limits: () => limits,
  })
  const repositories = new Repositories(join(registry, name), new Git(program.environment), process)
  const running = new Map<string, Work>()
  let limits: RateLimits = { requests: undefined, tokens: undefined }

  const make = async (trial: Trial, attempt: number, stop: AbortSignal): Promise<void> => {
    const tell = stepWriter(folder, trial.key, attempt, process)
    const attemptOne = attemptHere({
      ...{ folder, tasks, repositories, program, limiter, process },
      tell: (_, message) => tell(message),
    })
    const wish = readWish(folder, trial.key, attempt)
    await attemptOne(trial, attempt, { maxCost: wish?.maxCost, began: () => undefined }, stop)
  }

  const act = async (id: string, data: unknown): Promise<void> => {
    const { trial, attempt } = attemptOf(folder, trials, id, data)
    if (folder.attemptOf(trial.key, attempt) !== undefined) return
    // A job that arrives again while it runs here is the same one.
    const known = running.get(id)
    if (known !== undefined) return known.done
    if (!claimAttempt(folder, trial.key, attempt, name, process)) {
      // For example, Redis lost its jobs, and this one was given out again: its worker continues it.
      if (isWorking(registry, claimantOf(folder, trial.key, attempt))) return
      say(`${trial.key}: its worker is gone, so this attempt is lost`)
      await finishAttempt(folder, trial.key, attempt, { exitCode: undefined, error: 'the worker that had it is gone' })
      return
    }
    const controller = new AbortController()
    const doing: Work = {
      done: make(trial, attempt, controller.signal),
      stop: (why) => controller.abort(why),
      renewed: Date.now(),
    }
    running.set(id, doing)
    const watch = setInterval(() => {
      if (isEndAsked(folder, trial.key, attempt)) doing.stop('asked')
      if (Date.now() - doing.renewed < lockMs * 0.9 || controller.signal.aborted) return
      say(`${trial.key}: its lock was lost and not regained, so its run is ended`)
      doing.stop('lock')
    }, lookMs)
    try {
      await doing.done
    } finally {
      clearInterval(watch)
      running.delete(id)
    }
  }

  const close = openJobWorker(carrier, folder.hash, act, {
    ...{ labelSets: labelSetsOf(own), concurrency: workers, lockMs, say },
    renewed: (id) => {
      const doing = running.get(id)
      if (doing !== undefined) doing.renewed = Date.now()
    },
  })
  const beat = (): void => {
    writeBeat(registry, name, process, { labels, places: workers })
    const share = countAlive(registry)
    const { rpm, tpm } = readControl(folder.path)
    limits = { requests: rpm, tokens: tpm }
    alone.limit({ requests: shareOf(rpm, share), tokens: shareOf(tpm, share) })
  }
  beat()
  const beating = setInterval(beat, beatMs)
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    signal.addEventListener('abort', () => resolve(), { once: true })
  })
  for (const doing of running.values()) doing.stop('interrupted')
  await Promise.allSettled([...running.values()].map(({ done }) => done))
  clearInterval(beating)
  endBeat(registry, name)
  await close()
  await removeTree(join(registry, name))
}

/**
 * The attempt that a job names: the last one of its trial, as it was given out.
 *
 * @throws UserError `usage` for a job that doesn't belong to this batch
 */
function attemptOf(
  folder: BatchFolder,
  trials: ReadonlyMap<string, Trial>,
  id: string,
  data: unknown,
): { readonly trial: Trial; readonly attempt: number } {
  const job = jobData.safeParse(data)
  if (!job.success)
    throw new UserError('usage', 'it holds something else than a batch, a task and the hash of a manifest')
  const { batch, task, manifest } = job.data
  if (batch !== folder.hash || manifest !== folder.hash) throw new UserError('usage', 'it is of another batch')
  const trial = trials.get(task)
  if (trial === undefined)
    throw new UserError('usage', "it names a task that this batch doesn't have, or that needs other labels")
  const attempt = folder.attempts(trial.key).at(-1)
  const isGivenOut =
    attempt !== undefined && id === jobIdOf(trial.key, attempt) && readWish(folder, trial.key, attempt) !== undefined
  if (!isGivenOut) throw new UserError('usage', `${trial.key} was not given out`)
  return { trial, attempt }
}

function shareOf(limit: number | undefined, share: number): number | undefined {
  return limit === undefined ? undefined : Math.max(1, Math.floor(limit / share))
}
