import { resolve } from 'node:path'
import process from 'node:process'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { connectCarrier } from '../batch/queue/redis.ts'
import { work } from '../batch/queue/work.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { parseLabels } from '../batch/labels.ts'
import { UserError } from '../core/user-error.ts'
import { catchInterrupts } from './interrupts.ts'
import { warn } from './warn.ts'

/** The options of `agent batch worker`, as parsed. */
export type BatchWorkerOptions = {
  readonly queue: string
  readonly store: string
  readonly workers: number
  readonly labels?: string
  readonly lockSeconds?: number
}

/** Long enough for a restart of Redis, and for a machine that stops for a minute. */
const usualLockSeconds = 120

/**
 * `agent batch worker`: runs the jobs of a batch until it is interrupted.
 *
 * @throws UserError `usage` where there is no such batch, or Redis can't be used
 */
export async function batchWorker(options: BatchWorkerOptions): Promise<number> {
  const { queue, store, workers, lockSeconds } = options
  const labels = parseLabels(options.labels ?? '')
  if (labels === undefined)
    throw new UserError('usage', '--labels: expected names such as docker,big: letters, digits, and . _ - in each.')
  const folder = BatchFolder.open(resolve(store), process.pid)
  const carrier = await connectCarrier(queue)
  if (carrier.warning !== undefined) warn(carrier.warning)
  const ending = new AbortController()
  const release = catchInterrupts((reason) => ending.abort(reason))
  process.stderr.write(
    `agent: ${workers} at once, of the batch ${folder.hash.slice(0, 12)}. Ctrl-C returns the running tasks to the queue.\n`,
  )
  try {
    await work(folder, carrier, {
      ...{ workers, labels, process: process.pid, signal: ending.signal, say: warn },
      lockMs: (lockSeconds ?? usualLockSeconds) * 1000,
      program: { argv: [process.execPath, process.argv[1] ?? ''], environment: process.env },
    })
    return exitCodes.done
  } finally {
    carrier.close()
    release()
  }
}
