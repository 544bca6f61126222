import { existsSync, readdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { removeTree } from '../../sandbox/index.ts'
import { BatchFolder } from '../batch/folder/batch-folder.ts'
import { parseLabels, type Labels } from '../batch/labels.ts'
import { fetchBatch, linkByRedis } from '../batch/queue/link-by-redis.ts'
import { connectCarrier, refuseOpenWire } from '../batch/queue/carrier.ts'
import { work } from '../batch/queue/work.ts'
import { linkByFolder, type WorkerLink } from '../batch/queue/worker-link.ts'
import { findAppPaths } from '../core/app-paths.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { UserError } from '../core/user-error.ts'
import { catchInterrupts } from './interrupts.ts'
import { warn } from './warn.ts'
import { counted } from '../core/text/counted.ts'
import { tell } from './print.ts'

/** The options of `agent batch worker`, as parsed. */
export type BatchWorkerOptions = {
  readonly queue: string
  readonly store?: string
  readonly workers: number
  readonly labels?: string
  readonly lockSeconds?: number
  readonly handInSeconds?: number
}

/** How long a lock on a job lasts, in seconds: long enough for Redis to restart, or for a machine to be suspended for a minute. */
const usualLockSeconds = 120
/** The default time for which a worker tries to send a result through Redis, in seconds. */
const usualHandInSeconds = 900

/**
 * `agent batch worker`: runs the jobs of a batch until it is interrupted. A worker that shares the batch's folder works for that batch only. A worker that has
 * access only to Redis works for one batch after another.
 *
 * @throws UserError `usage` for invalid options, and if there is no such batch or Redis can't be used
 */
export async function batchWorker(options: BatchWorkerOptions): Promise<number> {
  const { queue, store } = options
  const labels = parseLabels(options.labels ?? '')
  if (labels === undefined)
    throw new UserError(
      'usage',
      "--labels: expected names separated by commas, such as docker,big. A name consists of letters, digits, '.', '_' and '-'.",
    )
  if (store === undefined) refuseOpenWire(queue)
  const ending = new AbortController()
  const release = catchInterrupts((reason) => ending.abort(reason))
  if (store !== undefined) await untilThere(resolve(store), ending.signal)
  const shared =
    store === undefined || ending.signal.aborted ? undefined : BatchFolder.open(resolve(store), process.pid)
  if (ending.signal.aborted) return exitCodes.done
  const carrier = await connectCarrier(queue, process.env)
  if (carrier.warning !== undefined) warn(carrier.warning)
  const own: Own = { name: `${hostname()}-${process.pid}`, labels, places: options.workers, signal: ending.signal }
  try {
    if (shared !== undefined) {
      await doBatch(shared, carrier, options, own, linkByFolder(shared, own.name, process.pid, own))
      return exitCodes.done
    }
    const directory = join(findAppPaths(process.env).state, 'batch-workers')
    while (!ending.signal.aborted) {
      const wish = { directory, process: process.pid, signal: ending.signal, say: warn }
      const folder = await fetchBatch(carrier, wish)
      if (folder === undefined) break
      const link = linkByRedis(carrier, folder, {
        ...{ name: own.name, process: process.pid, labels, places: own.places },
        deadlineMs: (options.handInSeconds ?? usualHandInSeconds) * 1000,
      })
      await doBatch(folder, carrier, options, own, link).finally(() => removeTree(folder.path))
    }
    return exitCodes.done
  } finally {
    carrier.close()
    release()
  }
}

/** How long a folder may contain other files than a batch before it counts as another folder, in milliseconds: a batch that begins writes its files one by one. */
const beginningMs = 5000

/** Waits until a batch begins in a folder that is missing or empty, because workers may be started before their batch. */
async function untilThere(path: string, signal: AbortSignal): Promise<void> {
  let filledAt: number | undefined
  for (let round = 0; !existsSync(join(path, 'batch.json')) && !signal.aborted; round++) {
    if (existsSync(path) && readdirSync(path).length > 0) filledAt ??= Date.now()
    if (filledAt !== undefined && Date.now() - filledAt > beginningMs) return
    if (round % 120 === 4) warn(`there is no batch in ${path} yet: waiting for agent batch run -o ${path}.`)
    await sleep(500, undefined, { signal }).catch(() => undefined)
  }
}

type Own = {
  readonly name: string
  readonly labels: Labels
  readonly places: number
  readonly signal: AbortSignal
}

async function doBatch(
  folder: BatchFolder,
  carrier: Awaited<ReturnType<typeof connectCarrier>>,
  { workers, lockSeconds }: BatchWorkerOptions,
  { name, labels, signal }: Own,
  link: WorkerLink,
): Promise<void> {
  tell(
    `agent: up to ${counted(workers, 'run')} at once, from the batch ${folder.hash.slice(0, 12)}. Ctrl-C returns the running tasks to the queue.`,
  )
  await work(folder, carrier, {
    ...{ name, link, workers, labels, process: process.pid, signal, say: warn },
    lockMs: (lockSeconds ?? usualLockSeconds) * 1000,
    program: { argv: [process.execPath, process.argv[1] ?? ''], environment: process.env },
  })
}
