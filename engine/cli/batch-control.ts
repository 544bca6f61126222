import { join, resolve } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { writeControl } from '../batch/folder/control.ts'
import { readIfThere } from '../batch/folder/files.ts'
import { supervisorOf } from '../batch/folder/supervisor-lock.ts'
import { resultsOf, summaryOf } from '../batch/derived/results.ts'
import { parseWhere } from '../batch/where.ts'
import { statusLines, type Status } from '../batch/batch-status.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { counted } from '../core/text/counted.ts'
import { print, printJson, rawOutput, isTerminal } from './print.ts'

/** A request to a running batch. */
type Wish = 'pause' | 'resume' | 'cancel'

const wishes: Readonly<Record<Wish, Parameters<typeof writeControl>[1]>> = {
  pause: { paused: true },
  resume: { paused: false, cancelled: false },
  cancel: { cancelled: true },
}

const said: Readonly<Record<Wish, string>> = {
  pause: 'paused: running tasks continue, and no more tasks start until you run agent batch resume',
  resume: 'resumed',
  cancel:
    'cancelled: running tasks are interrupted, and tasks without a result stay open. To run them after all, run agent batch resume',
}

/**
 * `agent batch pause`, `agent batch resume` and `agent batch cancel`: store the request for the supervisor of the batch.
 *
 * @throws UserError `usage` if the folder contains no batch
 */
export function batchWish(directory: string, wish: Wish): number {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  writeControl(folder.path, wishes[wish], process.pid)
  print(said[wish])
  if (supervisorOf(folder.path) === undefined)
    print('This batch is not running. To continue it, run agent batch run with the same arguments.')
  return exitCodes.done
}

/**
 * `agent batch set`: changes limits of a running batch.
 *
 * @param pairs strings such as `workers=8`, `rpm=500` or `tpm=200000`
 * @throws UserError `usage` if the folder contains no batch, for a key that can't be set, or for an invalid value
 */
export function batchSet(directory: string, pairs: readonly string[]): number {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  for (const pair of pairs) {
    const [, key, value] = /^(workers|rpm|tpm)=([1-9]\d{0,9})$/.exec(pair) ?? []
    if (key === undefined) throw new UserError('usage', `'${pair}': expected workers=N, rpm=N or tpm=N.`)
    writeControl(folder.path, { [key]: Number(value) }, process.pid)
  }
  return exitCodes.done
}

/**
 * `agent batch status`: shows the progress of a batch.
 *
 * @throws UserError `usage` if the folder contains no batch
 */
export async function batchStatus(
  directory: string,
  { watch, json }: { readonly watch?: true; readonly json?: true },
): Promise<number> {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  const trials = folder.trials(folder.tasks())
  for (;;) {
    const isRunning = supervisorOf(folder.path) !== undefined
    const live = isRunning ? readIfThere(join(folder.path, 'status.json')) : undefined
    const status: Status = {
      summary: summaryOf(folder, resultsOf(folder, trials)),
      supervised: isRunning,
      live: live === undefined ? undefined : (JSON.parse(live) as Status['live']),
    }
    if (watch === true && json !== true && isTerminal('stdout')) rawOutput.stdout.write('\u001b[H\u001b[2J')
    if (json === true) printJson(status)
    else print(...statusLines(status))
    if (watch !== true || !isRunning) return exitCodes.done
    await sleep(2000)
  }
}

/**
 * `agent batch retry`: reopens settled trials, so that the next `agent batch run` runs them again.
 *
 * @param where a condition such as `outcome=provider`, or several, separated by commas
 * @throws UserError `usage` if the folder contains no batch, for an invalid condition, or while the batch is running
 */
export function batchRetry(directory: string, where: string): number {
  const folder = BatchFolder.open(resolve(directory), process.pid)
  const isMeant = parseWhere(where)
  if (supervisorOf(folder.path) !== undefined) {
    throw new UserError(
      'usage',
      `${folder.path} is running. To reopen its runs, first end the batch with agent batch cancel.`,
    )
  }
  let opened = 0
  for (const trial of folder.trials(folder.tasks())) {
    const settled = folder.settled(trial.key)
    if (settled === undefined || !isMeant(settled)) continue
    folder.reopen(trial.key)
    folder.note({ type: 'retried', trial: trial.key })
    opened += 1
  }
  print(
    `${counted(opened, 'run is', 'runs are')} open again${opened > 0 ? `. To repeat ${opened === 1 ? 'it' : 'them'}, run agent batch run with the same arguments` : ''}.`,
  )
  return exitCodes.done
}
