import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import type { Task } from '../tasks/task.ts'
import { partOf } from '../shard.ts'
import { trialsOf, type Trial } from '../trials.ts'
import { appendLine, readIfThere, writeOnce, writeWhole } from './files.ts'
import { differences, hashOf, manifestSchema, type Manifest } from './batch-manifest.ts'
import { attemptRecord, settledRecord, type AttemptRecord, type JournalEntry, type SettledRecord } from './records.ts'
import { parseStep, withReported, type Step } from './step.ts'

const taskLine = z.object({
  id: z.string(),
  prompt: z.string(),
  repo: z.string(),
  ref: z.string().optional(),
  image: z.string().optional(),
  labels: z.array(z.string()).default([]),
})

/**
 * The folder of a batch. The state of the batch is stored only in this folder. `batch.json` and `tasks.jsonl` are fixed when the batch begins. Each attempt has
 * a folder `runs/TRIAL/ATTEMPT`. The result of a trial, `runs/TRIAL/settled.json`, is created only once, unless the trial is reopened.
 */
export class BatchFolder {
  readonly path: string
  readonly manifest: Manifest
  /** The hash that identifies the batch. */
  readonly hash: string
  readonly #owner: number

  private constructor(path: string, manifest: Manifest, owner: number) {
    this.path = path
    this.manifest = manifest
    this.hash = hashOf(manifest)
    this.#owner = owner
  }

  /**
   * Opens the folder of a batch.
   *
   * @param owner the id of the process that writes to the folder; it makes the names of temporary files unique
   * @throws UserError `usage` if the folder contains no batch, or its `batch.json` can't be read
   */
  static open(path: string, owner: number): BatchFolder {
    const text = readIfThere(join(path, 'batch.json'))
    if (text === undefined) throw new UserError('usage', `${path} is not a batch folder: it contains no batch.json.`)
    return new BatchFolder(path, parse(manifestSchema, text, join(path, 'batch.json')), owner)
  }

  /**
   * Begins a batch in a folder. If the folder already contains this batch, opens it.
   *
   * @throws UserError `usage` if the folder contains another batch, no batch but other files, or a `batch.json` that can't be read
   */
  static begin(path: string, tasks: readonly Task[], wish: Omit<Manifest, 'tasks'>, owner: number): BatchFolder {
    const text = tasks.map((task) => `${JSON.stringify(asLine(task))}\n`).join('')
    const manifest = { ...wish, tasks: sha256(text) }
    mkdirSync(path, { recursive: true, mode: 0o700 })
    // The files are listed before checking for the manifest. If another process is starting the same batch, the list of tasks is the only file that it writes
    // before the manifest. So if the manifest is still missing after the listing, `names` contains no other file of that process.
    const names = readdirSync(path)
    if (!existsSync(join(path, 'batch.json'))) {
      // If a batch was interrupted while it was being created, the folder contains its tasks but no manifest.
      const others = names.filter((name) => !name.startsWith('tasks.jsonl') && !name.startsWith('batch.json'))
      if (others.length > 0)
        throw new UserError(
          'usage',
          `${path} contains files that don't belong to a batch (${others[0] ?? ''}). Name an empty or a new folder.`,
        )
      writeWhole(join(path, 'tasks.jsonl'), text, owner)
      writeOnce(join(path, 'batch.json'), `${JSON.stringify(manifest, undefined, 2)}\n`, owner)
    }
    mkdirSync(join(path, 'runs'), { recursive: true, mode: 0o700 })
    const there = BatchFolder.open(path, owner)
    const different = differences(there.manifest, manifest)
    if (different.length === 0) return there
    const message = `${path} contains another batch, which differs in ${different.join(', ')}.`
    throw new UserError('usage', `${message} Name another folder, or use the same options.`)
  }

  /**
   * The tasks with which the batch began.
   *
   * @throws UserError `usage` if the list of tasks has been changed since then
   */
  tasks(): readonly Task[] {
    const file = join(this.path, 'tasks.jsonl')
    const text = readIfThere(file) ?? ''
    if (sha256(text) !== this.manifest.tasks)
      throw new UserError('usage', `${file} has been changed since the batch began. Begin a new batch.`)
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => {
        const { id, prompt, repo, ref, image, labels } = parse(taskLine, line, file)
        return { id, prompt, repository: { source: repo, ref }, image, labels }
      })
  }

  trials(tasks: readonly Pick<Task, 'id'>[]): readonly Trial[] {
    return partOf(trialsOf(tasks, this.manifest), this.manifest.shard)
  }

  /** Adds an entry with the current time to the batch's journal. */
  note(entry: JournalEntry): void {
    appendLine(join(this.path, 'journal.jsonl'), { at: new Date().toISOString(), ...entry })
  }

  trialPath(trial: string): string {
    return join(this.path, 'runs', trial)
  }

  attemptPath(trial: string, attempt: number): string {
    return join(this.trialPath(trial), String(attempt))
  }

  /** The numbers of a trial's attempts that have begun, in ascending order. */
  attempts(trial: string): readonly number[] {
    const path = this.trialPath(trial)
    if (!existsSync(path)) return []
    return readdirSync(path)
      .filter((name) => /^\d{1,9}$/.test(name))
      .map(Number)
      .toSorted((one, other) => one - other)
  }

  /** Begins the next attempt by creating its folder, or continues the last attempt if it is unfinished. @returns the attempt's number */
  beginAttempt(trial: string): number {
    const last = this.attempts(trial).at(-1) ?? 0
    // An attempt that was given to a worker and has not ended yet is continued.
    return last > 0 && this.attemptOf(trial, last) === undefined ? last : this.addAttempt(trial)
  }

  /** Creates the folder of one more attempt, also if the last one is unfinished. @returns the attempt's number */
  addAttempt(trial: string): number {
    const attempt = (this.attempts(trial).at(-1) ?? 0) + 1
    mkdirSync(this.trialPath(trial), { recursive: true, mode: 0o700 })
    // If two processes try to begin the same attempt, the second one fails.
    mkdirSync(this.attemptPath(trial, attempt), { mode: 0o700 })
    return attempt
  }

  /** The outcome of an attempt; undefined if none has been written yet. */
  attemptOf(trial: string, attempt: number): AttemptRecord | undefined {
    const file = join(this.attemptPath(trial, attempt), 'result.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(attemptRecord, text, file)
  }

  /** The progress that an attempt's run last reported; undefined if it has reported none. Progress is stored only for runs that workers execute. */
  stepOf(trial: string, attempt: number): Step | undefined {
    const text = readIfThere(join(this.attemptPath(trial, attempt), 'step.json'))
    return text === undefined ? undefined : parseStep(text)
  }

  /** Stores the progress that an attempt's run reports. */
  writeStep(trial: string, attempt: number, step: Step): void {
    writeWhole(join(this.attemptPath(trial, attempt), 'step.json'), JSON.stringify(step), this.#owner)
  }

  /**
   * Records how an attempt ended, with all usage that its run had reported. If the end is reported again, the first report still counts, and the new
   * one is stored next to it.
   *
   * @returns the record that counts
   */
  endAttempt(seen: AttemptRecord): AttemptRecord {
    const { trial, attempt } = seen
    const path = this.attemptPath(trial, attempt)
    const record = withReported(seen, this.stepOf(trial, attempt))
    if (writeOnce(join(path, 'result.json'), asText(record), this.#owner)) return record
    const earlier = this.supersededOf(trial, attempt)?.cost_usd ?? 0
    const late = earlier > (record.cost_usd ?? 0) ? { ...record, cost_usd: earlier } : record
    writeWhole(join(path, 'superseded.json'), asText(late), this.#owner)
    this.note({ type: 'superseded', trial, attempt })
    return this.attemptOf(trial, attempt) ?? record
  }

  /** The last report about the end of an attempt, if the end was reported more than once; otherwise undefined. See `costOfAttempt` for its cost. */
  supersededOf(trial: string, attempt: number): AttemptRecord | undefined {
    const file = join(this.attemptPath(trial, attempt), 'superseded.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(attemptRecord, text, file)
  }

  /** The result of a trial; undefined while it is open. */
  settled(trial: string): SettledRecord | undefined {
    const file = join(this.trialPath(trial), 'settled.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(settledRecord, text, file)
  }

  /** Stores the result of a trial, unless the trial has a result already. @returns whether this record became the result */
  settle(record: SettledRecord): boolean {
    mkdirSync(this.trialPath(record.trial), { recursive: true, mode: 0o700 })
    return writeOnce(join(this.trialPath(record.trial), 'settled.json'), asText(record), this.#owner)
  }

  /** Reopens a trial. It may then have as many attempts as a new trial. The earlier result is stored under another name. */
  reopen(trial: string): void {
    const path = this.trialPath(trial)
    const [last = 0] = this.attempts(trial).toReversed()
    renameSync(join(path, 'settled.json'), join(path, `settled-${last}.json`))
  }

  /** The number of the last attempt that no longer counts, because the trial was reopened after it; 0 if the trial was never reopened. */
  reopenedAfter(trial: string): number {
    const path = this.trialPath(trial)
    if (!existsSync(path)) return 0
    const kept = readdirSync(path).map((name) => Number(/^settled-(\d{1,9})\.json$/.exec(name)?.[1] ?? 0))
    return Math.max(0, ...kept)
  }

  /** Writes a file that was computed from the batch's other files. It can be computed again at any time. */
  derive(name: string, text: string): void {
    writeWhole(join(this.path, name), text, this.#owner)
  }
}

function asLine({ id, prompt, repository: { source, ref }, image, labels }: Task): z.input<typeof taskLine> {
  return {
    ...{ id, prompt, repo: source },
    ...(ref === undefined ? {} : { ref }),
    ...(image === undefined ? {} : { image }),
    // Labels are stored only if there are any, so that a batch without labels has the same hash as in versions of this program that didn't support
    // labels.
    ...(labels.length === 0 ? {} : { labels: [...labels] }),
  }
}

function asText(record: unknown): string {
  return `${JSON.stringify(record)}\n`
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function parse<Schema extends z.ZodType>(schema: Schema, text: string, file: string): z.output<Schema> {
  try {
    return schema.parse(JSON.parse(text))
  } catch (error) {
    throw new UserError('usage', `${file}: can't be read: ${(error as Error).message}`, { cause: error })
  }
}
