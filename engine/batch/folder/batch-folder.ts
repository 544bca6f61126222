import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { UserError } from '../../core/user-error.ts'
import type { Task } from '../tasks/task.ts'
import { partOf } from '../shard.ts'
import { trialsOf, type Trial } from '../trials.ts'
import { appendLine, readIfThere, writeOnce, writeWhole } from './files.ts'
import { differences, hashOf, manifestSchema, type Manifest } from './manifest.ts'
import { attemptRecord, settledRecord, type AttemptRecord, type JournalEntry, type SettledRecord } from './records.ts'

const taskLine = z.object({
  id: z.string(),
  prompt: z.string(),
  repo: z.string(),
  ref: z.string().optional(),
  image: z.string().optional(),
  labels: z.array(z.string()).default([]),
})

/**
 * The folder of a batch, which is the truth about it. `batch.json` and `tasks.jsonl` are frozen when it is begun; each attempt has a folder below
 * `runs/`; `settled.json` beside it is made once.
 */
export class BatchFolder {
  readonly path: string
  readonly manifest: Manifest
  /** What the batch is known by. */
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
   * @param owner the process that writes, for names that no other has
   * @throws UserError `usage` where there is none
   */
  static open(path: string, owner: number): BatchFolder {
    const text = readIfThere(join(path, 'batch.json'))
    if (text === undefined) throw new UserError('usage', `${path} is not the folder of a batch: it has no batch.json.`)
    return new BatchFolder(path, parse(manifestSchema, text, join(path, 'batch.json')), owner)
  }

  /**
   * Begins a batch in a folder, or opens the one that was begun there, if it is the same.
   *
   * @throws UserError `usage` where the folder holds another batch, or other files
   */
  static begin(path: string, tasks: readonly Task[], wish: Omit<Manifest, 'tasks'>, owner: number): BatchFolder {
    const text = tasks.map((task) => `${JSON.stringify(asLine(task))}\n`).join('')
    const manifest = { ...wish, tasks: sha256(text) }
    if (existsSync(join(path, 'batch.json'))) {
      const there = BatchFolder.open(path, owner)
      const different = differences(there.manifest, manifest)
      if (different.length === 0) return there
      const message = `${path} holds another batch: ${different.join(', ')} were not the same when it was begun.`
      throw new UserError('usage', `${message} Name another folder, or ask for the same.`)
    }
    mkdirSync(path, { recursive: true, mode: 0o700 })
    // One that was cut off here has its tasks and no manifest.
    const others = readdirSync(path).filter((name) => !name.startsWith('tasks.jsonl') && !name.startsWith('batch.json'))
    if (others.length > 0) {
      throw new UserError(
        'usage',
        `${path} holds other files (${others[0] ?? ''}): name a folder that is empty or not there.`,
      )
    }
    writeWhole(join(path, 'tasks.jsonl'), text, owner)
    mkdirSync(join(path, 'runs'), { recursive: true, mode: 0o700 })
    writeOnce(join(path, 'batch.json'), `${JSON.stringify(manifest, undefined, 2)}\n`, owner)
    return BatchFolder.open(path, owner)
  }

  /** @throws UserError `usage` where they are not those that the batch was begun with */
  tasks(): readonly Task[] {
    const file = join(this.path, 'tasks.jsonl')
    const text = readIfThere(file) ?? ''
    if (sha256(text) !== this.manifest.tasks)
      throw new UserError(
        'usage',
        `${file} is not what the batch was begun with: it was changed. Begin the batch anew.`,
      )
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

  /** Adds to the journal. */
  note(entry: JournalEntry): void {
    appendLine(join(this.path, 'journal.jsonl'), { at: new Date().toISOString(), ...entry })
  }

  trialPath(trial: string): string {
    return join(this.path, 'runs', trial)
  }

  attemptPath(trial: string, attempt: number): string {
    return join(this.trialPath(trial), String(attempt))
  }

  /** The numbers of the attempts that were begun, in order. */
  attempts(trial: string): readonly number[] {
    const path = this.trialPath(trial)
    if (!existsSync(path)) return []
    return readdirSync(path)
      .filter((name) => /^\d{1,9}$/.test(name))
      .map(Number)
      .toSorted((one, other) => one - other)
  }

  /** Makes the folder of the next attempt, or gives the one that has not ended. */
  beginAttempt(trial: string): number {
    const last = this.attempts(trial).at(-1) ?? 0
    // One that workers were given, and that has not ended, is gone on with.
    if (last > 0 && this.attemptOf(trial, last) === undefined) return last
    const attempt = last + 1
    mkdirSync(this.trialPath(trial), { recursive: true, mode: 0o700 })
    // Of two who begin it, the second fails.
    mkdirSync(this.attemptPath(trial, attempt), { mode: 0o700 })
    return attempt
  }

  /** How an attempt ended; undefined where nobody has written it down. */
  attemptOf(trial: string, attempt: number): AttemptRecord | undefined {
    const file = join(this.attemptPath(trial, attempt), 'result.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(attemptRecord, text, file)
  }

  /**
   * Writes down how an attempt ended, once: of two who say it the first holds, and what the other says is kept beside.
   *
   * @returns how it ended
   */
  endAttempt(record: AttemptRecord): AttemptRecord {
    const path = this.attemptPath(record.trial, record.attempt)
    if (writeOnce(join(path, 'result.json'), asText(record), this.#owner)) return record
    writeWhole(join(path, 'superseded.json'), asText(record), this.#owner)
    this.note({ type: 'superseded', trial: record.trial, attempt: record.attempt })
    return this.attemptOf(record.trial, record.attempt) ?? record
  }

  /** What was said of the end of an attempt after somebody else had said it: what it cost counts too. */
  supersededOf(trial: string, attempt: number): AttemptRecord | undefined {
    const file = join(this.attemptPath(trial, attempt), 'superseded.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(attemptRecord, text, file)
  }

  /** What a trial came to; undefined while it is open. */
  settled(trial: string): SettledRecord | undefined {
    const file = join(this.trialPath(trial), 'settled.json')
    const text = readIfThere(file)
    return text === undefined ? undefined : parse(settledRecord, text, file)
  }

  /** @returns whether this is what the trial came to: only the first is */
  settle(record: SettledRecord): boolean {
    mkdirSync(this.trialPath(record.trial), { recursive: true, mode: 0o700 })
    return writeOnce(join(this.trialPath(record.trial), 'settled.json'), asText(record), this.#owner)
  }

  /** Opens a trial again, which may have as many attempts as a new one. What it had come to is kept beside. */
  reopen(trial: string): void {
    const path = this.trialPath(trial)
    const [last = 0] = this.attempts(trial).toReversed()
    renameSync(join(path, 'settled.json'), join(path, `settled-${last}.json`))
  }

  /** The last attempt that counts no more, since the trial was opened again after it; 0 where it never was. */
  reopenedAfter(trial: string): number {
    const path = this.trialPath(trial)
    if (!existsSync(path)) return 0
    const kept = readdirSync(path).map((name) => Number(/^settled-(\d{1,9})\.json$/.exec(name)?.[1] ?? 0))
    return Math.max(0, ...kept)
  }

  /** Writes a file that is made of the others, and can be made again. */
  derive(name: string, text: string): void {
    writeWhole(join(this.path, name), text, this.#owner)
  }
}

function asLine({ id, prompt, repository: { source, ref }, image, labels }: Task): z.input<typeof taskLine> {
  return {
    ...{ id, prompt, repo: source },
    ...(ref === undefined ? {} : { ref }),
    ...(image === undefined ? {} : { image }),
    // None leaves a batch the same that was begun before there were any.
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
