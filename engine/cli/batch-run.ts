import { resolve } from 'node:path'
import process from 'node:process'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { connectCarrier, refuseOpenWire } from '../batch/queue/carrier.ts'
import { renderStepSummary } from '../batch/derived/step-summary.ts'
import { Git } from '../batch/run/repository-git.ts'
import { Repositories } from '../batch/run/repositories.ts'
import { runBatch, type BatchResult } from '../batch/run/run-batch.ts'
import { parseShard } from '../batch/shard.ts'
import { readTasks } from '../batch/tasks/read-tasks.ts'
import { selectTasks } from '../batch/tasks/select-tasks.ts'
import type { Repository, Task } from '../batch/tasks/task.ts'
import { findRepository, findWorkspace } from '../app/workspace.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { execWords, modelsOf, type BatchRunOptions } from './batch-options.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { catchInterrupts, codeOf, type Interruption } from './interrupts.ts'
import { openStepSummary } from './run-reports.ts'
import { warn } from './warn.ts'
import { counted } from '../core/text/counted.ts'
import { print, rawOutput, tell } from './print.ts'
import { Closing } from '../app/closing.ts'
import { loadRun } from '../app/load-run.ts'
import { commonRequest } from './request-from-options.ts'
import type { WriteStream } from 'node:tty'
import type { Progress } from '../batch/run/progress.ts'
import { harmlessLine } from '../core/text/harmless.ts'
import { fit } from '../display/fit.ts'
import { columnsOf, ScreenRegion } from '../display/screen-region.ts'

const usualRetrySeconds = 5
const checksAtOnce = 4

/**
 * `agent batch run`: runs many tasks, each on a private copy of its repository.
 *
 * @returns the exit code
 * @throws UserError for problems that the user has to fix; in that case nothing was run
 */
export async function batchRun(file: string, options: BatchRunOptions): Promise<number> {
  refuseUnconfined(options)
  const here = findRepository(findWorkspace(options.cd ?? process.cwd()))
  const tasks = selectTasks(await readTasks(file, here), options)
  const models = modelsOf(options.model)
  if (options.dryRun === true) return dryRun(tasks, models, options)
  const throughQueue = options.throughQueue === true
  if (throughQueue && options.queue === undefined) throw new UserError('usage', '--through-queue needs --queue URL.')
  if (throughQueue) refuseOpenWire(options.queue ?? '')
  // The connection to Redis is opened before the folder is created, so that nothing has begun yet if Redis is unavailable.
  const carrier = options.queue === undefined ? undefined : await connectCarrier(options.queue, process.env)
  if (carrier?.warning !== undefined) warn(carrier.warning)
  const addSummary = openStepSummary(process.env['GITHUB_STEP_SUMMARY'])
  const ending = new AbortController()
  const release = catchInterrupts((reason) => ending.abort(reason))
  const shown = watchBatch(rawOutput.stderr)
  try {
    const folder = BatchFolder.begin(resolve(options.output), tasks, wishOf(models, options), process.pid)
    const result = await runBatch(folder, {
      ...{ workers: options.workers, attempts: options.attempts, maxCost: options.maxCost },
      limits: { requests: options.rpm, tokens: options.tpm },
      backoffMs: (options.retrySeconds ?? usualRetrySeconds) * 1000,
      program: { argv: [process.execPath, process.argv[1] ?? ''], environment: process.env },
      process: process.pid,
      kill: (pid) => void process.kill(pid, 'SIGKILL'),
      signal: ending.signal,
      check: (tree, names) => checkModels(options, names, tree),
      watch: shown.watch,
      say: warn,
      ...{ carrier, throughQueue },
    })
    shown.close()
    const isTold = addTo(addSummary, result)
    print(result.progress.line(), `${folder.path}/report.html`)
    const code = exitCodeOf(result, ending.signal)
    return code === exitCodes.done && !isTold ? exitCodes.failed : code
  } finally {
    shown.close()
    carrier?.close()
    release()
  }
}

/** Adds a batch to the step's summary. Returns whether that was possible: the batch has run, so its results count all the same. */
function addTo(addSummary: ReturnType<typeof openStepSummary>, { results, summary }: BatchResult): boolean {
  try {
    addSummary?.((room) => renderStepSummary(results, summary, room))
    return true
  } catch (error) {
    warn((error as Error).message)
    return false
  }
}

/** The definition of the batch, as its manifest will store it. */
function wishOf(models: readonly string[], options: BatchRunOptions): Parameters<typeof BatchFolder.begin>[2] {
  const { maxCostPerRun, shard } = options
  return {
    version: 1,
    created: new Date().toISOString(),
    models: [...models],
    repeat: options.repeat,
    options: [...execWords(options)],
    cwd: process.cwd(),
    ...(maxCostPerRun === undefined ? {} : { max_cost_per_run: maxCostPerRun }),
    ...(shard === undefined ? {} : { shard: parseShard(shard) }),
  }
}

/**
 * Refuses the options that switch the sandbox off, because a run's changes are found in its private view, and commands work in that view only if they
 * are in a sandbox.
 */
function refuseUnconfined(options: ConfigOptions): void {
  const isOpen =
    options.sandbox === 'danger-full-access' ||
    options.externallySandboxed === true ||
    options.dangerouslyBypassApprovalsAndSandbox === true
  if (!isOpen) return
  throw new UserError(
    'usage',
    'Each run of a batch works on a private view of a repository, which needs a sandbox: leave out the option that switches the sandbox off.',
  )
}

async function dryRun(tasks: readonly Task[], models: readonly string[], options: BatchRunOptions): Promise<number> {
  const repositories = new Repositories('/nonexistent', new Git(process.env), process.pid)
  const all = new Map(tasks.map(({ repository }) => [JSON.stringify(repository), repository]))
  const faults: string[] = []
  const waiting = [...all.values()]
  const look = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const fault = await repositories.check(next)
      if (fault !== undefined) faults.push(fault)
    }
  }
  await Promise.all(Array.from({ length: checksAtOnce }, look))
  if (faults.length > 0) throw new UserError('usage', faults.toSorted().join('\n'))
  const local = tasks.map(({ repository }) => repository).find(isLocal)
  if (local !== undefined) await checkModels(options, models, local.source)
  const runs = tasks.length * Math.max(1, models.length) * options.repeat
  const remote = [...all.values()].some((repository) => !isLocal(repository))
  print(
    `${counted(runs, 'run')}: ${counted(tasks.length, 'task')} in ${counted(all.size, 'combination')} of repository and ref, ${counted(Math.max(1, models.length), 'model')}, ${options.repeat === 1 ? 'once' : `${options.repeat} times`} each.`,
    ...(remote ? ['The refs of remote repositories were not checked.'] : []),
  )
  return exitCodes.done
}

function isLocal({ source }: Repository): boolean {
  return source.startsWith('/')
}

/**
 * The exit code of `agent batch run`. It is 0 only if every trial is done.
 *
 * @param signal aborted, with an `Interruption` as its reason, if the program was interrupted
 * @throws the error that interrupted the program, if one did
 */
function exitCodeOf({ end, summary: { outcomes, trials } }: BatchResult, signal: AbortSignal): number {
  switch (end.why) {
    case 'usage':
    case 'failed':
      warn(end.message)
      return exitCodes[end.why]
    case 'interrupted':
      if (signal.reason instanceof Error) throw signal.reason
      return codeOf(signal.reason as Interruption)
    case 'cancelled':
      return exitCodes.interrupted
    case 'budget':
      warn('--max-cost leaves too little for another run; the remaining runs were not started.')
      return exitCodes.budget
    case 'settled':
      if (outcomes.done === trials) return exitCodes.done
      if (outcomes.provider !== undefined) return exitCodes.provider
      return outcomes.sandbox === undefined ? exitCodes.failed : exitCodes.sandboxUnavailable
    default:
      return end satisfies never
  }
}

/**
 * Checks the model names, API keys, settings, rules and hooks for the runs of a batch, before a run sends a request to a model. Starts no run.
 *
 * @param models the names of the models. Empty: the configured model
 * @param tree the work tree of one of the tasks
 * @throws UserError that names the problem
 */
async function checkModels(options: BatchRunOptions, models: readonly string[], tree: string): Promise<void> {
  const { model: _, ...configured } = options
  for (const model of models.length === 0 ? [undefined] : models) {
    const closing = new Closing()
    try {
      const common = commonRequest({ ...configured, ...(model === undefined ? {} : { model }), cd: tree })
      const maxCost = options.maxCostPerRun ?? options.maxCost
      const verify = options.verify === undefined ? {} : { verify: { commands: options.verify } }
      const task = { type: 'prompt', prompt: 'check' } as const
      await loadRun({ ...common, ...verify, task, budget: { maxCost } }, closing)
    } finally {
      await closing.close()
    }
  }
}

const liveMs = 500
const linesMs = 30_000
const mostRows = 20

/** Shows the progress of a batch: in a terminal as a table that is redrawn, otherwise as a line every thirty seconds. */
function watchBatch(output: WriteStream): {
  readonly watch: (progress: Progress) => void
  readonly close: () => void
} {
  let timer: NodeJS.Timeout | undefined
  let region: ScreenRegion | undefined
  const draw = (progress: Progress): void => {
    const columns = Math.max(20, columnsOf(output) - 1)
    const lines = [...progress.rows(Math.min(mostRows, (output.rows ?? mostRows) - 3)), progress.line()]
    region?.draw(lines.map((line) => fit(harmlessLine(line), columns)).map((line) => [line, line] as const))
  }
  return {
    watch: (progress) => {
      if (output.isTTY) {
        region = new ScreenRegion(output)
        timer = setInterval(() => draw(progress), liveMs)
      } else {
        tell(progress.line())
        timer = setInterval(() => tell(progress.line()), linesMs)
      }
      timer.unref()
    },
    close: () => {
      clearInterval(timer)
      region?.erase()
      region = undefined
    },
  }
}
