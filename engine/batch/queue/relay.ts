import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readControl } from '../folder/control.ts'
import { readIfThere, writeWhole } from '../folder/files.ts'
import { parseStep } from '../folder/step.ts'
import { attemptRecord, type AttemptRecord } from '../folder/records.ts'
import { readWish, wishOf } from '../folder/wish.ts'
import type { Trial } from '../trials.ts'
import { unpackAttempt } from './attempt-archive.ts'
import { endWithoutRun, jobIdOf } from './attempt-files.ts'
import { NotAuthentic, type BatchKey } from './batch-key.ts'
import { beatSchema, mostManifestBytes } from './link-by-redis.ts'
import type { Carrier } from './redis.ts'
import { announce, NotWhole, renounce, SealedStore } from './sealed-store.ts'
import { registryOf, silentMs } from './worker-registry.ts'

const lookMs = 500
const announceMs = 15_000
const tables = ['wishes', 'claims', 'ends', 'steps', 'results', 'workers', 'control', 'manifest']

/** An attempt that was handed out to the workers. */
type Given = { readonly trial: string; readonly attempt: number }

const result = z.object({ record: attemptRecord, size: z.int().nullable(), most: z.int() })

/**
 * Connects the folder of a batch, through Redis, to workers that don't share it. All values that it stores in Redis are encrypted. The workers get
 * the tasks through Redis, and their messages and results are copied into the folder, where the rest of the program reads them.
 */
export class Relay {
  readonly #carrier: Carrier
  readonly #key: BatchKey
  readonly #store: SealedStore
  readonly #folder: BatchFolder
  readonly #process: number
  readonly #trials: ReadonlyMap<string, Trial>
  readonly #out = new Map<string, Given>()
  #looking: NodeJS.Timeout | undefined
  #announcedAt = 0
  #control = ''
  #now: Promise<void> = Promise.resolve()

  constructor(carrier: Carrier, key: BatchKey, folder: BatchFolder, trials: readonly Trial[], process: number) {
    this.#carrier = carrier
    this.#key = key
    this.#store = new SealedStore(carrier, key, folder.hash)
    this.#folder = folder
    this.#process = process
    this.#trials = new Map(trials.map((trial) => [trial.key, trial]))
  }

  /** Starts the exchange of data with the workers. @throws UserError `usage` if the tasks are too large for Redis */
  async start(): Promise<void> {
    mkdirSync(registryOf(this.#folder), { recursive: true, mode: 0o700 })
    await this.#announce()
    const next = (): void => {
      // A round of the exchange can take a long time, because it waits while Redis is unreachable. The next round begins only after it has ended.
      this.#looking = setTimeout(() => {
        this.#now = this.#look().catch(() => undefined)
        void this.#now.then(() => this.#looking !== undefined && next())
      }, lookMs)
    }
    next()
  }

  /** Publishes the maximum cost of an attempt. Must be called before the attempt's job is put into a queue. */
  async giveOut(trial: string, attempt: number, maxCost: number | undefined): Promise<void> {
    const id = jobIdOf(trial, attempt)
    this.#out.set(id, { trial, attempt })
    await this.#store.set('wishes', id, wishOf(maxCost))
  }

  /** Whether a worker has claimed an attempt. */
  async isClaimed(trial: string, attempt: number): Promise<boolean> {
    return (await this.#store.get('claims', jobIdOf(trial, attempt))) !== undefined
  }

  /** Asks the worker of an attempt to stop the attempt. */
  async askToEnd(trial: string, attempt: number): Promise<void> {
    await this.#store.set('ends', jobIdOf(trial, attempt), true)
  }

  /**
   * Ends the exchange of data with the workers, after storing the results that were handed in so far.
   *
   * @param isSettled whether the batch is complete. If so, no later result is needed
   */
  async close(isSettled: boolean): Promise<void> {
    clearTimeout(this.#looking)
    this.#looking = undefined
    await this.#now
    await this.#look().catch(() => undefined)
    await renounce(this.#carrier, this.#key, this.#folder.hash)
    // Unless the batch is complete, the table `results` is kept, so that the next start finds the results that workers hand in later.
    await this.#store.clear(...tables.filter((table) => isSettled || table !== 'results'))
  }

  async #announce(): Promise<void> {
    if (Date.now() - this.#announcedAt < announceMs) return
    const tasks = readIfThere(join(this.#folder.path, 'tasks.jsonl')) ?? ''
    const bytes = Buffer.from(JSON.stringify({ manifest: this.#folder.manifest, tasks }))
    if (bytes.length > mostManifestBytes)
      throw new UserError(
        'usage',
        "There are too many tasks to send through Redis; let the workers share the batch's folder (--store DIR).",
      )
    if (!(await this.#store.has('manifest'))) await this.#store.put('manifest', bytes)
    await announce(this.#carrier, this.#key, this.#folder.hash)
    this.#announcedAt = Date.now()
  }

  async #look(): Promise<void> {
    await this.#announce()
    const { rpm, tpm } = readControl(this.#folder.path)
    const control = JSON.stringify({ rpm, tpm })
    if (control !== this.#control) await this.#store.set('control', 'limits', { rpm, tpm })
    this.#control = control
    await this.#lookAtWorkers()
    for (const [id, step] of await this.#store.all('steps')) {
      const known = this.#out.get(id)
      if (known !== undefined) this.#keepStep(known, step)
    }
    for (const [name, value] of await this.#store.all('results')) {
      await this.#take(name, value)
      await this.#store.remove('results', name)
    }
  }

  /** Stores in the folder the progress that an attempt's run last reported. */
  async takeStep(trial: string, attempt: number): Promise<void> {
    const step = await this.#store.get('steps', jobIdOf(trial, attempt)).catch((error: unknown) => {
      // A value that somebody without the key has changed is ignored.
      if (error instanceof NotAuthentic) return undefined
      throw error
    })
    this.#keepStep({ trial, attempt }, step)
  }

  #keepStep({ trial, attempt }: Given, text: unknown): void {
    const step = typeof text === 'string' ? parseStep(text) : undefined
    if (step === undefined || JSON.stringify(this.#folder.stepOf(trial, attempt)) === JSON.stringify(step)) return
    this.#folder.writeStep(trial, attempt, step)
  }

  async #lookAtWorkers(): Promise<void> {
    const since = (await this.#store.now()) - silentMs
    for (const [name, value] of await this.#store.all('workers')) {
      const beat = beatSchema.safeParse(value)
      if (!beat.success || beat.data.at < since || !/^[\w.-]{1,200}$/.test(name)) continue
      const { at: _, ...worker } = beat.data
      writeWhole(join(registryOf(this.#folder), `${name}.json`), JSON.stringify(worker), this.#process)
    }
  }

  /**
   * Stores a result in the folder. If something is wrong with the result, the attempt ends without an answer and with an error that says so. A result
   * that belongs to no attempt of this batch is ignored.
   */
  async #take(name: string, value: unknown): Promise<void> {
    const [id = '', delivery = ''] = name.split(':')
    const read = result.safeParse(value)
    const known = this.#out.get(id) ?? (read.success ? this.#attemptOf(id, read.data.record) : undefined)
    if (known === undefined) return
    const { trial, attempt } = known
    await this.takeStep(trial, attempt)
    if (!read.success && this.#folder.attemptOf(trial, attempt) === undefined) {
      const reserved = readWish(this.#folder, trial, attempt)?.maxCost
      const why = 'the result from its worker was changed on its way through Redis'
      endWithoutRun(this.#folder, trial, attempt, 'infrastructure', why, reserved)
    } else if (read.success && read.data.record.trial === trial && read.data.record.attempt === attempt) {
      const fault =
        this.#folder.attemptOf(trial, attempt) === undefined
          ? await this.#unpack(delivery, read.data)
          : 'the result arrived too late'
      this.#folder.endAttempt(fault === undefined ? read.data.record : withoutFiles(read.data.record, fault))
    }
    for (const table of ['wishes', 'claims', 'ends', 'steps']) await this.#store.remove(table, id)
    await this.#store.clear(`object:${delivery}`)
  }

  /** Unpacks the files of a result into the folder. @returns what is wrong with the files; undefined if they are complete */
  async #unpack(delivery: string, { size, most, record }: z.infer<typeof result>): Promise<string | undefined> {
    if (size === null)
      return `its result is larger than the ${Math.floor(most / 1024)} KiB that may be sent through Redis; let the workers share the batch's folder (--store DIR)`
    try {
      const packed = await this.#store.read(`object:${delivery}`, most)
      await unpackAttempt(packed, this.#folder.attemptPath(record.trial, record.attempt), most)
      return undefined
    } catch (error) {
      if (error instanceof NotAuthentic)
        return `the result from its worker was changed on its way through Redis: ${error.message}`
      if (error instanceof NotWhole)
        return `the result from the worker arrived too late, or a part of it is missing: ${error.message}`
      return `the result from its worker can't be read: ${(error as Error).message}`
    }
  }

  /** The attempt that a result belongs to, if an earlier start of this batch handed out that attempt; otherwise undefined. */
  #attemptOf(id: string, { trial, attempt }: AttemptRecord): Given | undefined {
    const isOurs = this.#trials.has(trial) && jobIdOf(trial, attempt) === id
    return isOurs && existsSync(this.#folder.attemptPath(trial, attempt)) ? { trial, attempt } : undefined
  }
}

/** The record of a run whose files are missing or unusable, or arrived too late. Its cost still counts. */
function withoutFiles(
  { patch: _, session: __, exit_code: ___, ...record }: AttemptRecord,
  error: string,
): AttemptRecord {
  return { ...record, outcome: 'infrastructure', error }
}
