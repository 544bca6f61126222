import { join } from 'node:path'
import { exitCodes } from '../../core/exit-codes.ts'
import { startOf } from '../../../apply-patch/index.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { writeWhole } from '../folder/files.ts'
import type { AttemptRecord } from '../folder/records.ts'
import { writeWish } from '../folder/wish.ts'
import type { Task } from '../tasks/task.ts'
import type { Trial } from '../trials.ts'
import { finishAttempt } from './finish-attempt.ts'
import { GateOfRun } from './gate-requests.ts'
import { RepositoryFailure } from './repository-git.ts'
import type { RunMessage } from './supervisor-messages.ts'
import type { RequestLimiter } from './rate-limiter.ts'
import type { Repositories } from './repositories.ts'
import { startRun, type AgentProgram, type RunningRun } from './start-run.ts'
import type { Attempt } from './supervisor.ts'

/** How long an interrupted run may take to end cleanly, in milliseconds. After that, it is killed. */
const graceMs = 20_000

type AttemptDependencies = {
  readonly folder: BatchFolder
  readonly tasks: ReadonlyMap<string, Task>
  readonly repositories: Repositories
  readonly program: AgentProgram
  readonly limiter: RequestLimiter
  readonly process: number
  /** Receives the messages of a run. */
  readonly tell: (trial: Trial, message: RunMessage) => void
}

/** Runs attempts as processes on this machine, each in a private view of its task's repository. */
export function attemptHere(dependencies: AttemptDependencies): Attempt {
  return async (trial, attempt, { maxCost, began }, signal) => {
    const { folder, tasks, repositories, tell } = dependencies
    const started = new Date()
    const base = (): { readonly started: string; readonly durationMs: number } => ({
      started: started.toISOString(),
      durationMs: Date.now() - started.getTime(),
    })
    const task = tasks.get(trial.task)
    if (task === undefined) throw new Error(`the task ${trial.task} is not in the tasks.jsonl of the batch's folder`)
    let commit: string | undefined
    try {
      const checkout = await repositories.checkOut(task.repository)
      commit = checkout.commit
      if (signal.aborted) return await end({ exitCode: undefined, outcome: 'interrupted', error: 'not begun' })
      const path = folder.attemptPath(trial.key, attempt)
      // The maximum cost is stored in case this process is killed. The attempt is then lost, and the next supervisor must know how much it may have cost.
      if (maxCost !== undefined) writeWish(folder, trial.key, attempt, maxCost, dependencies.process)
      const gate = new GateOfRun(dependencies.limiter, `${trial.key}/${attempt}`)
      const running = startRun(dependencies.program, {
        directory: path,
        cwd: folder.manifest.cwd,
        words: wordsOf(dependencies, { trial, task, tree: checkout.tree, path, maxCost }),
        prompt: task.prompt,
        tell: (message, answer) => {
          if (message.type === 'began') began()
          gate.said(message, answer)
          tell(trial, message)
        },
      })
      noteProcess(path, running.pid, dependencies.process)
      folder.note({
        type: 'attempt-started',
        trial: trial.key,
        attempt,
        ...(running.pid === undefined ? {} : { pid: running.pid }),
      })
      const exitCode = await untilEnd(running, signal).finally(() => gate.gone())
      // An exhausted quota has an outcome of its own, because it says nothing about the task or about the health of the provider.
      const isQuota = exitCode === exitCodes.provider && gate.isUsedUp
      return await end({ exitCode, commit, ...(isQuota ? { outcome: 'quota', ...retryAt(gate) } : {}) })
    } catch (error) {
      if (!(error instanceof RepositoryFailure)) throw error
      return end({ exitCode: undefined, outcome: 'infrastructure', error: error.message })
    }

    function end(seen: Omit<Parameters<typeof finishAttempt>[3], 'started' | 'durationMs'>): Promise<AttemptRecord> {
      return finishAttempt(folder, trial.key, attempt, { ...base(), ...seen })
    }
  }
}

function retryAt({ retryAt: at }: GateOfRun): { readonly retryAt?: number } {
  return at === undefined ? {} : { retryAt: at }
}

type RunFacts = {
  readonly trial: Trial
  readonly task: Task
  readonly tree: string
  readonly path: string
  readonly maxCost: number | undefined
}

/** The arguments of `agent exec`: those from the manifest, followed by those for this attempt. */
function wordsOf({ folder }: AttemptDependencies, { trial, task, tree, path, maxCost }: RunFacts): readonly string[] {
  return [
    ...folder.manifest.options,
    ...['-C', tree],
    // The run must not change the repository itself, because its result is a patch.
    '--view=copy',
    ...['--land', 'never', '--summary', 'off', '--quiet'],
    ...['--report', join(path, 'report.html')],
    ...(trial.model === undefined ? [] : ['-m', trial.model]),
    ...(maxCost === undefined ? [] : ['--max-cost', maxCost.toFixed(6)]),
    ...(task.image === undefined ? [] : ['-c', `sandbox_image=${JSON.stringify(task.image)}`]),
  ]
}

/** Records the process of a run. If this supervisor is killed, the next one looks for that process. */
function noteProcess(path: string, pid: number | undefined, owner: number): void {
  if (pid !== undefined) writeWhole(join(path, 'process.json'), JSON.stringify({ pid, started: startOf(pid) }), owner)
}

async function untilEnd(running: RunningRun, signal: AbortSignal): Promise<number | undefined> {
  let force: NodeJS.Timeout | undefined
  const stop = (): void => {
    running.interrupt()
    force = setTimeout(() => running.kill(), graceMs)
  }
  if (signal.aborted) stop()
  else signal.addEventListener('abort', stop, { once: true })
  try {
    return await running.ended
  } finally {
    signal.removeEventListener('abort', stop)
    clearTimeout(force)
  }
}
