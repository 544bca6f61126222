import { mkdirSync } from 'node:fs'
import { removeTree } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import type { RateLimits } from '../../core/request-gate.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readWish } from '../folder/wish.ts'
import { hasLabels, labelSetsOf, type Labels } from '../labels.ts'
import { finishAttempt } from '../run/finish-attempt.ts'
import { Git } from '../run/repository-git.ts'
import { attemptHere } from '../run/make-attempt.ts'
import { RateLimiter } from '../run/rate-limiter.ts'
import { Repositories } from '../run/repositories.ts'
import type { AgentProgram } from '../run/start-run.ts'
import type { Trial } from '../trials.ts'
import { jobIdOf, stepWriter } from './attempt-files.ts'
import { SharedRateLimiter } from './shared-limiter.ts'
import type { Carrier } from './carrier.ts'
import { jobData, openJobWorker } from './redis.ts'
import { clonesOf, type WorkerLink } from './worker-link.ts'
import { beatMs } from './worker-registry.ts'

type WorkOptions = {
  /** The worker's name, which is unique. */
  readonly name: string
  /** The link between the worker and the coordinator. */
  readonly link: WorkerLink
  /** The labels of this worker's machine. The worker takes no task that needs another label. */
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
 * Runs the jobs of a batch until the worker is stopped, or until the link reports that the batch is over and no job is running. Each job is a run in
 * its own process, and its result is written to the folder. If the lock of a job is not renewed, its run is interrupted before another worker can get
 * the job.
 *
 * @param folder the batch's own folder, to which the coordinator writes too, or a copy from which the link sends results
 */
export async function work(folder: BatchFolder, carrier: Carrier, options: WorkOptions): Promise<void> {
  const { name, link, workers, labels, lockMs, program, process, signal, say } = options
  const clones = clonesOf(folder, name)
  mkdirSync(clones, { recursive: true, mode: 0o700 })
  // The worker accepts only tasks whose labels it has. A job for any other task is refused, whichever queue it comes from.
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
  const repositories = new Repositories(clones, new Git(program.environment), process)
  const running = new Map<string, Work>()
  const closing = new AbortController()
  let limits: RateLimits = { requests: undefined, tokens: undefined }

  const make = async (trial: Trial, attempt: number, stop: AbortSignal): Promise<void> => {
    const steps = stepWriter(folder, trial.key, attempt)
    const attemptOne = attemptHere({
      ...{ folder, tasks, repositories, program, limiter, process },
      tell: (_, message) => {
        steps.tell(message)
        if (message.type === 'spent') link.tellStep(trial.key, attempt).catch(() => undefined)
      },
    })
    const wish = readWish(folder, trial.key, attempt)
    const given = { maxCost: wish?.maxCost, began: () => undefined }
    await attemptOne(trial, attempt, given, stop).finally(() => steps.end())
  }

  const handIn = (trial: Trial, attempt: number): Promise<void> =>
    link.handIn(trial.key, attempt, { closing: closing.signal, say })

  const act = async (id: string, data: unknown): Promise<void> => {
    const { trial, attempt } = attemptOf(folder, trials, id, data)
    if (!(await link.isGivenOut(trial.key, attempt)))
      throw new UserError('usage', `${trial.key} was not assigned to a worker`)
    // If the attempt has already ended, its result may still have to be handed in.
    if (folder.attemptOf(trial.key, attempt) !== undefined) return handIn(trial, attempt)
    // The queue may hand out a job again while this worker is still running it.
    const known = running.get(id)
    if (known !== undefined) return known.done
    if (!(await link.claim(trial.key, attempt))) {
      // If Redis lost its jobs, this job may have been handed out again while another worker is running it. If so, the other worker continues.
      if (await link.isClaimantThere(trial.key, attempt)) return
      say(`${trial.key}: the worker that claimed it is gone, so this attempt is lost`)
      await finishAttempt(folder, trial.key, attempt, {
        exitCode: undefined,
        error: 'the worker that claimed it is gone',
      })
      return handIn(trial, attempt)
    }
    const controller = new AbortController()
    const doing: Work = {
      done: make(trial, attempt, controller.signal).then(() => handIn(trial, attempt)),
      stop: (why) => controller.abort(why),
      renewed: Date.now(),
    }
    running.set(id, doing)
    const look = async (): Promise<void> => {
      await link.tellStep(trial.key, attempt)
      if (await link.isEndAsked(trial.key, attempt)) doing.stop('asked')
    }
    const watch = setInterval(() => {
      look().catch(() => undefined)
      if (Date.now() - doing.renewed < lockMs * 0.9 || controller.signal.aborted) return
      say(`${trial.key}: this worker lost its lock on the job and did not regain it, so the run is being ended`)
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
  const ended = Promise.withResolvers<void>()
  const beat = async (): Promise<void> => {
    const { workers: share, limits: own, isOver } = await link.beat()
    limits = own
    alone.limit({ requests: shareOf(own.requests, share), tokens: shareOf(own.tokens, share) })
    if (isOver && running.size === 0) ended.resolve()
  }
  await beat()
  const beating = setInterval(() => void beat().catch(() => undefined), beatMs)
  if (signal.aborted) ended.resolve()
  signal.addEventListener('abort', () => ended.resolve(), { once: true })
  await ended.promise
  closing.abort()
  for (const doing of running.values()) doing.stop('interrupted')
  await Promise.allSettled([...running.values()].map(({ done }) => done))
  clearInterval(beating)
  await close()
  await link.end()
  await removeTree(clones)
}

/**
 * The attempt that a job is for.
 *
 * @throws UserError `usage` for a job that is malformed, has a wrong id, belongs to another batch, or names a task that is unknown or needs labels
 * that this worker doesn't have
 */
function attemptOf(
  folder: BatchFolder,
  trials: ReadonlyMap<string, Trial>,
  id: string,
  data: unknown,
): { readonly trial: Trial; readonly attempt: number } {
  const job = jobData.safeParse(data)
  if (!job.success)
    throw new UserError('usage', 'it must contain a batch, a task and the hash of a manifest, and nothing else')
  const { batch, task, manifest } = job.data
  if (batch !== folder.hash || manifest !== folder.hash) throw new UserError('usage', 'it belongs to another batch')
  const trial = trials.get(task)
  if (trial === undefined)
    throw new UserError(
      'usage',
      "it names a task that is not in this batch, or that needs labels this worker doesn't have",
    )
  const attempt = Number(/-(\d{1,9})$/.exec(id)?.[1])
  if (id !== jobIdOf(trial.key, attempt)) throw new UserError('usage', `${trial.key} was not assigned to a worker`)
  return { trial, attempt }
}

function shareOf(limit: number | undefined, share: number): number | undefined {
  return limit === undefined ? undefined : Math.max(1, Math.floor(limit / share))
}
