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
import { packAttempt, TooLarge } from './attempt-archive.ts'
import { jobIdOf } from './attempt-files.ts'
import { keyVariable, NotAuthentic, type BatchKey } from './batch-key.ts'
import type { Carrier } from './redis.ts'
import { announcedBatches, SealedStore } from './sealed-store.ts'
import type { WorkerLink } from './worker-link.ts'
import { reportOf, silentMs, workerSchema } from './worker-registry.ts'

/** The maximum size of a batch's manifest and tasks together, in bytes, if they are sent through Redis. */
export const mostManifestBytes = 256 * 1024 * 1024
const retryMs = 1000

const published = z.object({ manifest: manifestSchema, tasks: z.string() })
const claimSchema = z.object({ worker: z.string() })
const controlSchema = z.object({ rpm: z.int().optional(), tpm: z.int().optional() })
/** A worker's report about itself, and the time of the report by the clock of Redis, in milliseconds since 1970. */
export const beatSchema = workerSchema.extend({ at: z.number() })

/**
 * Waits until a batch with this key is running, and fetches that batch.
 *
 * @param directory the directory in which the batch's folder is created
 * @returns undefined if the signal is aborted first
 * @throws UserError `usage` if the first look finds batches, but none with this key, or if the batch isn't the one that was announced
 */
export async function fetchBatch(
  carrier: Carrier,
  key: BatchKey,
  {
    directory,
    process,
    signal,
    say,
  }: {
    readonly directory: string
    readonly process: number
    readonly signal: AbortSignal
    readonly say: (sentence: string) => void
  },
): Promise<BatchFolder | undefined> {
  for (let isTold = false; !signal.aborted; isTold = true) {
    const { own, others } = await announcedBatches(carrier, key)
    const [batch] = own
    if (batch !== undefined) return receive(new SealedStore(carrier, key, batch), batch, directory, process)
    if (others > 0 && !isTold)
      throw new UserError(
        'usage',
        `${keyVariable}: no batch in this Redis uses this key; ${others} ${others === 1 ? 'uses a different key' : 'use different keys'}. Give this worker the key that agent batch run uses.`,
      )
    if (!isTold)
      say(`no batch uses this key yet. To start one, run agent batch run --queue with the same ${keyVariable}`)
    await sleep(retryMs, undefined, { signal }).catch(() => undefined)
  }
  return undefined
}

async function receive(store: SealedStore, batch: string, directory: string, process: number): Promise<BatchFolder> {
  const path = join(directory, `${batch.slice(0, 12)}-${process}`)
  const bytes = await store.read('manifest', mostManifestBytes)
  const { manifest, tasks } = published.parse(JSON.parse(bytes.toString()))
  if (hashOf(manifest) !== batch)
    throw new UserError(
      'usage',
      'The batch in Redis is not the one that was announced: the hash of its manifest differs.',
    )
  makeDirectories(join(path, 'runs'))
  writeWhole(join(path, 'tasks.jsonl'), tasks, process)
  // The batch may have been begun on another machine, in a directory that doesn't exist here.
  const cwd = existsSync(manifest.cwd) ? manifest.cwd : path
  writeWhole(join(path, 'batch.json'), JSON.stringify({ ...manifest, cwd }), process)
  return BatchFolder.open(path, process)
}

/** A worker's description of itself, and the limits for its results. */
type RedisLinkOptions = {
  readonly name: string
  readonly process: number
  readonly labels: Labels
  readonly places: number
  /** The maximum size of the result of one attempt, in bytes. */
  readonly mostBytes: number
  /** How long the worker tries to hand in a result, in milliseconds. */
  readonly deadlineMs: number
}

/**
 * Creates a worker's link to the coordinator through Redis, for a worker that has its own copy of the batch's folder. All values that the link stores
 * in Redis are sealed.
 */
export function linkByRedis(carrier: Carrier, key: BatchKey, folder: BatchFolder, own: RedisLinkOptions): WorkerLink {
  const store = new SealedStore(carrier, key, folder.hash)
  const { name, process, mostBytes, deadlineMs } = own
  const told = new Map<string, string>()
  const claims = new Set<string>()
  const late = new Set<string>()
  const beatNow = async (): Promise<void> => {
    const at = await store.now()
    await store.set('workers', name, { at, ...reportOf(process, own) })
    // Claims are written again because Redis may have lost them.
    for (const id of claims) await store.setOnce('claims', id, { worker: name })
  }
  const fresh = async (): Promise<ReadonlySet<string>> => {
    const since = (await store.now()) - silentMs
    const all = [...(await store.all('workers'))].flatMap(([worker, value]) => {
      const beat = beatSchema.safeParse(value)
      return beat.success && beat.data.at > since ? [worker] : []
    })
    return new Set(all)
  }
  const tellStep = async (trial: string, attempt: number): Promise<void> => {
    const id = jobIdOf(trial, attempt)
    const step = folder.stepOf(trial, attempt)
    const text = JSON.stringify(step)
    if (step === undefined || told.get(id) === text) return
    await store.set('steps', id, text)
    told.set(id, text)
  }
  const send = async (trial: string, attempt: number, packed: Buffer | undefined): Promise<void> => {
    const delivery = randomUUID()
    const id = jobIdOf(trial, attempt)
    await tellStep(trial, attempt)
    if (packed !== undefined) await store.put(`object:${delivery}`, packed)
    const record = folder.attemptOf(trial, attempt)
    await store.set('results', `${id}:${delivery}`, { record, size: packed?.length ?? null, most: mostBytes })
  }
  return {
    isGivenOut: async (trial, attempt) => {
      const wish = wishSchema.safeParse(await orNothing(store.get('wishes', jobIdOf(trial, attempt))))
      if (!wish.success) return false
      mkdirSync(folder.attemptPath(trial, attempt), { recursive: true, mode: 0o700 })
      writeWish(folder, trial, attempt, wish.data.max_cost, process)
      return true
    },
    claim: async (trial, attempt) => {
      const id = jobIdOf(trial, attempt)
      const isOwn = await store.setOnce('claims', id, { worker: name })
      if (isOwn) claims.add(id)
      return isOwn
    },
    isClaimantThere: async (trial, attempt) => {
      const claim = claimSchema.safeParse(await orNothing(store.get('claims', jobIdOf(trial, attempt))))
      return claim.success && (await fresh()).has(claim.data.worker)
    },
    isEndAsked: async (trial, attempt) => (await orNothing(store.get('ends', jobIdOf(trial, attempt)))) !== undefined,
    tellStep,
    handIn: async (trial, attempt, { closing, say }) => {
      const id = jobIdOf(trial, attempt)
      const packed = await packAttempt(folder.attemptPath(trial, attempt), mostBytes).catch((error: unknown) => {
        if (error instanceof TooLarge) return undefined
        throw error
      })
      // A result that could not be handed in by the deadline is not handed in later either, even if this worker gets the job again.
      const tooLate = new UserError(
        'usage',
        `its result could not be delivered within ${deadlineMs / 1000} s: Redis is full or unavailable`,
      )
      if (late.has(id) || !(await isDoneBy(AbortSignal.timeout(deadlineMs), () => send(trial, attempt, packed)))) {
        late.add(id)
        say(`${trial}: ${tooLate.message}`)
        // The cost of the run still counts, and the coordinator must know the cost before it sees that the job failed.
        await isDoneBy(closing, () => tellStep(trial, attempt))
        throw tooLate
      }
      claims.delete(id)
      told.delete(id)
    },
    beat: async () => {
      await beatNow()
      const control = controlSchema.safeParse(await orNothing(store.get('control', 'limits')))
      const { rpm, tpm } = control.success ? control.data : {}
      const { own: batches } = await announcedBatches(carrier, key)
      const workers = Math.max(1, (await fresh()).size)
      return { workers, limits: { requests: rpm, tokens: tpm }, isOver: !batches.includes(folder.hash) }
    },
    end: () => store.remove('workers', name),
  }
}

/** Resolves to the value, or to undefined if the value is not authentic (somebody without the key changed it). */
async function orNothing(value: Promise<unknown>): Promise<unknown> {
  try {
    return await value
  } catch (error) {
    if (error instanceof NotAuthentic) return undefined
    throw error
  }
}

/** Repeats an action until it succeeds, for example while Redis is full or unreachable. @returns false if it did not succeed before the signal was aborted */
async function isDoneBy(end: AbortSignal, act: () => Promise<void>): Promise<boolean> {
  const stop = new AbortController()
  const ended = new Promise<false>((resolve) => {
    if (end.aborted) resolve(false)
    end.addEventListener('abort', () => resolve(false), { once: true, signal: stop.signal })
  })
  const isDone = await Promise.race([again(act, AbortSignal.any([end, stop.signal])), ended])
  stop.abort()
  return isDone
}

async function again(act: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  while (!signal.aborted) {
    const isDone = await act().then(
      () => true,
      () => false,
    )
    if (isDone) return true
    await sleep(retryMs, undefined, { signal }).catch(() => undefined)
  }
  return false
}
