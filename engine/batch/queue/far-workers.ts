import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { UserError } from '../../core/user-error.ts'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { readControl } from '../folder/control.ts'
import { readIfThere, writeWhole } from '../folder/files.ts'
import { parseStep } from '../folder/step.ts'
import { readWish, wishOf } from '../folder/wish.ts'
import type { Trial } from '../trials.ts'
import { endWithoutRun, jobIdOf } from './attempt-files.ts'
import { unpackResult, withoutFiles, writeResultFiles } from './attempt-result.ts'
import { batchesIn, FarStore, workersIn } from './far-store.ts'
import type { Carrier } from './carrier.ts'
import { parseReport, registryOf, silentMs } from './worker-registry.ts'

const lookMs = 500
const tables = ['batch', 'wishes', 'claims', 'ends', 'steps', 'results', 'control']
/** The maximum size of a batch's tasks, in bytes, if they are sent through Redis. */
const mostTaskBytes = 256 * 1024 * 1024

/** An attempt that was handed out to the workers. */
type Given = { readonly trial: string; readonly attempt: number }

/**
 * Connects the folder of a batch, through Redis, to workers that don't share it. The workers get the tasks through Redis, and their messages and results
 * are copied into the folder, where the rest of the program reads them.
 */
export class FarWorkers {
  readonly #store: FarStore
  readonly #batches: ReturnType<typeof batchesIn>
  readonly #workers: ReturnType<typeof workersIn>
  readonly #folder: BatchFolder
  readonly #process: number
  readonly #given: ReadonlyMap<string, Trial>
  #looking: NodeJS.Timeout | undefined
  #now: Promise<void> = Promise.resolve()

  constructor(carrier: Carrier, folder: BatchFolder, trials: readonly Trial[], process: number) {
    this.#store = new FarStore(carrier, folder.hash)
    this.#batches = batchesIn(carrier)
    this.#workers = workersIn(carrier, folder.hash, silentMs)
    this.#folder = folder
    this.#process = process
    this.#given = new Map(trials.map((trial) => [trialIdOf(jobIdOf(trial.key, 1)), trial]))
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
    await this.#store.set('wishes', jobIdOf(trial, attempt), JSON.stringify(wishOf(maxCost)))
  }

  /** Whether a worker has claimed an attempt. */
  async isClaimed(trial: string, attempt: number): Promise<boolean> {
    return (await this.#store.get('claims', jobIdOf(trial, attempt))) !== undefined
  }

  /** Asks the worker of an attempt to stop the attempt. */
  async askToEnd(trial: string, attempt: number): Promise<void> {
    await this.#store.set('ends', jobIdOf(trial, attempt), '')
  }

  /** Stores in the folder the progress that an attempt's run last reported. */
  async takeStep(trial: string, attempt: number): Promise<void> {
    this.#keepStep({ trial, attempt }, await this.#store.get('steps', jobIdOf(trial, attempt)))
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
    await this.#batches.withdraw(this.#folder.hash)
    // Unless the batch is complete, the table `results` is kept, so that the next start finds the results that workers hand in later.
    await this.#store.clear(...tables.filter((table) => isSettled || table !== 'results'))
  }

  /** Publishes the batch, again if Redis has lost it. */
  async #announce(): Promise<void> {
    if ((await this.#store.get('batch', 'manifest')) === undefined) {
      const tasks = readIfThere(join(this.#folder.path, 'tasks.jsonl')) ?? ''
      if (tasks.length > mostTaskBytes)
        throw new UserError(
          'usage',
          "There are too many tasks to send through Redis; let the workers share the batch's folder (--store DIR).",
        )
      await this.#store.set('batch', 'tasks', tasks)
      await this.#store.set('batch', 'manifest', JSON.stringify(this.#folder.manifest))
    }
    await this.#batches.announce(this.#folder.hash, '')
  }

  async #look(): Promise<void> {
    await this.#announce()
    const { rpm, tpm } = readControl(this.#folder.path)
    await this.#store.set('control', 'limits', JSON.stringify({ rpm, tpm }))
    for (const [name, text] of await this.#workers.all()) {
      const isFine = parseReport(text) !== undefined && /^[\w.-]{1,200}$/.test(name)
      if (isFine) writeWhole(join(registryOf(this.#folder), `${name}.json`), text, this.#process)
    }
    for (const [id, step] of await this.#store.all('steps')) {
      const given = this.#attemptOf(id)
      if (given !== undefined) this.#keepStep(given, step)
    }
    for (const name of await this.#store.names('results')) {
      await this.#take(name)
      await this.#store.remove('results', name)
    }
  }

  #keepStep({ trial, attempt }: Given, text: string | undefined): void {
    const step = text === undefined ? undefined : parseStep(text)
    if (step === undefined || JSON.stringify(this.#folder.stepOf(trial, attempt)) === JSON.stringify(step)) return
    this.#folder.writeStep(trial, attempt, step)
  }

  /**
   * Stores a result in the folder. If the result can't be read, the attempt ends without an answer and with an error that says so. A result that belongs
   * to no attempt of this batch is ignored.
   */
  async #take(name: string): Promise<void> {
    const [id = ''] = name.split(':')
    const given = this.#attemptOf(id)
    if (given === undefined) return
    const { trial, attempt } = given
    await this.takeStep(trial, attempt)
    const packed = await this.#store.getBytes('results', name)
    const isFirst = this.#folder.attemptOf(trial, attempt) === undefined
    try {
      const { record, files } = await unpackResult(packed ?? Buffer.alloc(0))
      if (record.trial !== trial || record.attempt !== attempt) throw new Error('it is about another attempt')
      if (isFirst) writeResultFiles(files, this.#folder.attemptPath(trial, attempt))
      this.#folder.endAttempt(isFirst ? record : withoutFiles(record, 'the result arrived too late'))
    } catch (error) {
      const why = `the result from its worker can't be read: ${(error as Error).message}`
      const reserved = readWish(this.#folder, trial, attempt)?.maxCost
      if (isFirst) endWithoutRun(this.#folder, trial, attempt, 'infrastructure', why, reserved)
    }
    for (const table of ['wishes', 'claims', 'ends', 'steps']) await this.#store.remove(table, id)
  }

  /** The attempt with this job id, if this batch has handed it out. */
  #attemptOf(id: string): Given | undefined {
    const [trial, attempt] = [this.#given.get(trialIdOf(id))?.key, Number(/-(\d{1,9})$/.exec(id)?.[1])]
    if (trial === undefined || !existsSync(this.#folder.attemptPath(trial, attempt))) return undefined
    return { trial, attempt }
  }
}

/** The part of a job's id that its trial determines. */
function trialIdOf(id: string): string {
  return id.slice(0, id.lastIndexOf('-'))
}
