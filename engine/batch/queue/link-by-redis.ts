import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import { makeDirectories } from '../../../sandbox/index.ts'
import { UserError } from '../../core/user-error.ts'
import { BatchFolder } from '../folder/batch-folder.ts'
import { writeWhole } from '../folder/files.ts'
import { hashOf, manifestSchema } from '../folder/batch-manifest.ts'
import { wishSchema, writeWish } from '../folder/wish.ts'
import type { Labels } from '../labels.ts'
import { jobIdOf } from './attempt-files.ts'
import { packResult } from './attempt-result.ts'
import { batchesIn, FarStore, workersIn } from './far-store.ts'
import type { Carrier } from './carrier.ts'
import type { WorkerLink } from './worker-link.ts'
import { reportOf, silentMs } from './worker-registry.ts'

const retryMs = 1000
const controlSchema = z.object({ rpm: z.int().optional(), tpm: z.int().optional() })

type Waiting = {
  /** The directory in which the batch's folder is created. */
  readonly directory: string
  readonly process: number
  readonly signal: AbortSignal
  readonly say: (sentence: string) => void
}

/**
 * Waits until a batch sends its tasks through this Redis, and fetches that batch.
 *
 * @returns undefined if the signal is aborted first
 * @throws UserError `usage` if the batch isn't the one that was announced
 */
export async function fetchBatch(carrier: Carrier, options: Waiting): Promise<BatchFolder | undefined> {
  const { directory, process, signal, say } = options
  for (let isTold = false; !signal.aborted; isTold = true) {
    const [batch] = (await batchesIn(carrier).all()).keys()
    if (batch !== undefined) return receive(new FarStore(carrier, batch), batch, directory, process)
    if (!isTold)
      say(
        "no batch sends its tasks through this Redis yet: waiting for agent batch run --queue … --through-queue. If this machine shares the batch's folder, name it with --store DIR.",
      )
    await sleep(retryMs, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}

async function receive(store: FarStore, batch: string, directory: string, process: number): Promise<BatchFolder> {
  const path = join(directory, `${batch.slice(0, 12)}-${process}`)
  const manifest = manifestSchema.parse(JSON.parse((await store.get('batch', 'manifest')) ?? 'null'))
  if (hashOf(manifest) !== batch)
    throw new UserError('usage', 'The batch in Redis is not the one that was announced: its hash differs.')
  makeDirectories(join(path, 'runs'))
  writeWhole(join(path, 'tasks.jsonl'), (await store.get('batch', 'tasks')) ?? '', process)
  // The batch may have been begun on another machine, in a directory that doesn't exist here.
  const cwd = existsSync(manifest.cwd) ? manifest.cwd : path
  writeWhole(join(path, 'batch.json'), JSON.stringify({ ...manifest, cwd }), process)
  return BatchFolder.open(path, process)
}

type RedisLinkOptions = {
  readonly name: string
  readonly process: number
  readonly labels: Labels
  readonly places: number
  /** How long the worker tries to hand in a result, in milliseconds. */
  readonly deadlineMs: number
}

/** Creates a worker's link to the coordinator through Redis, for a worker that has its own copy of the batch's folder. */
export function linkByRedis(carrier: Carrier, folder: BatchFolder, own: RedisLinkOptions): WorkerLink {
  const store = new FarStore(carrier, folder.hash)
  const live = workersIn(carrier, folder.hash, silentMs)
  const { name, process, deadlineMs } = own
  const told = new Map<string, string>()
  const claims = new Set<string>()
  const late = new Set<string>()
  const tellStep = async (trial: string, attempt: number): Promise<void> => {
    const id = jobIdOf(trial, attempt)
    const text = JSON.stringify(folder.stepOf(trial, attempt)) as string | undefined
    if (text === undefined || told.get(id) === text) return
    await store.set('steps', id, text)
    told.set(id, text)
  }
  return {
    isGivenOut: async (trial, attempt) => {
      const text = await store.get('wishes', jobIdOf(trial, attempt))
      if (text === undefined) return false
      mkdirSync(folder.attemptPath(trial, attempt), { recursive: true, mode: 0o700 })
      writeWish(folder, trial, attempt, wishSchema.parse(JSON.parse(text)).max_cost, process)
      return true
    },
    claim: async (trial, attempt) => {
      const id = jobIdOf(trial, attempt)
      const isOwn = await store.setOnce('claims', id, name)
      if (isOwn) claims.add(id)
      return isOwn
    },
    isClaimantThere: async (trial, attempt) =>
      (await live.all()).has((await store.get('claims', jobIdOf(trial, attempt))) ?? ''),
    isEndAsked: async (trial, attempt) => (await store.get('ends', jobIdOf(trial, attempt))) !== undefined,
    tellStep,
    handIn: async (trial, attempt, { closing, say }) => {
      const id = jobIdOf(trial, attempt)
      const packed = await packResult(folder, trial, attempt)
      const delivery = `${id}:${randomUUID()}`
      const send = async (): Promise<void> => {
        await tellStep(trial, attempt)
        await store.set('results', delivery, packed)
      }
      // A result that could not be handed in by the deadline is not handed in later either, even if this worker gets the job again.
      if (late.has(id) || !(await isDoneBy(AbortSignal.timeout(deadlineMs), send))) {
        late.add(id)
        const message = `its result could not be delivered within ${deadlineMs / 1000} s: Redis is full or unavailable`
        say(`${trial}: ${message}`)
        // The cost of the run still counts, and the coordinator must know the cost before it sees that the job failed.
        await isDoneBy(closing, () => tellStep(trial, attempt))
        throw new UserError('usage', message)
      }
      claims.delete(id)
      told.delete(id)
    },
    beat: async () => {
      await live.announce(name, JSON.stringify(reportOf(process, own)))
      // Claims are written again because Redis may have lost them.
      for (const id of claims) await store.setOnce('claims', id, name)
      const { rpm, tpm } = controlSchema.parse(JSON.parse((await store.get('control', 'limits')) ?? '{}'))
      const workers = Math.max(1, (await live.all()).size)
      const isOver = !(await batchesIn(carrier).all()).has(folder.hash)
      return { workers, limits: { requests: rpm, tokens: tpm }, isOver }
    },
    end: () => live.withdraw(name),
  }
}

/** Repeats an action until it succeeds, for example while Redis is full or unreachable. @returns false if it did not succeed before the signal was aborted */
async function isDoneBy(end: AbortSignal, act: () => Promise<void>): Promise<boolean> {
  const ended = new Promise<false>((resolve) => end.addEventListener('abort', () => resolve(false), { once: true }))
  while (!end.aborted) {
    const succeeds = act().then(
      () => true,
      () => sleep(retryMs, undefined, { signal: end }).catch(() => undefined),
    )
    // While the connection is lost, the action neither succeeds nor fails.
    const isDone = await Promise.race([succeeds, ended])
    if (isDone === true) return true
  }
  return false
}
