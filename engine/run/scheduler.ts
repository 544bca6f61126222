import { nestSignal, type NestedSignal } from './nest-signal.ts'

/** What the scheduler gives a call when it may run: a signal that cancels the call, and a way to wait until it can run alone. */
export type Turn = {
  /**
   * Aborted when the run or the response is cancelled or, with the reason `sibling`, when another call in the same batch could not be carried out.
   */
  readonly signal: AbortSignal
  /** Resolves when the call can run alone. Used if it turns out after the call has started that it must not run in parallel with others. */
  alone(): Promise<void>
}

/** A call as the scheduler sees it. */
type Task<Result> = {
  /** Whether the call may run in parallel with others, and before the response is complete. */
  readonly safe: boolean
  /**
   * For a safe call: whether it may start before the response is complete. If false, the call belongs to no batch, so it isn't cancelled when another
   * call could not be carried out. Default: true.
   */
  readonly early?: boolean
  /** Whether the call changes nothing. Default: false. */
  readonly readOnly?: boolean
  run(turn: Turn): Promise<Result>
}

type Options<Result> = {
  /** How many calls may run at a time. */
  readonly limit: number
  /** The signal that cancels the run. */
  readonly signal: AbortSignal
  /** Whether a result means that the call could not be carried out, which cancels its batch. */
  isBroken(result: Result): boolean
  /**
   * Creates the result of a call that never began. The reason: another call in its batch could not be carried out (`sibling`), the run or the
   * response was cancelled (`stopped`), or an earlier call failed (`failed`).
   */
  skipped(reason: 'sibling' | 'stopped' | 'failed'): Result
  /** Whether this result means that later calls must not begin if they may change something. Default: no. */
  stopsLater?(result: Result): boolean
}

type Entry<Result> = {
  readonly index: number
  readonly task: Task<Result>
  readonly batch: NestedSignal
  readonly done: PromiseWithResolvers<Result>
  exclusive: boolean
  /** Continues a call that has started and now waits until it can run alone; undefined for other calls. */
  resume: (() => void) | undefined
}

/**
 * Runs the calls in one response: safe ones in parallel as they arrive (unless `early` is false), all others one at a time in order. Calls that
 * aren't safe begin only when the response is complete: an interrupted response is requested again, so the effects of a call that had already begun
 * would happen twice. If a call has to wait, so do all calls after it. Consecutive safe calls form a batch. If one of them can't be carried out, the
 * rest of its batch is cancelled, but a denial or an abort doesn't cancel the batch.
 */
export class Scheduler<Result> {
  readonly #options: Options<Result>
  readonly #response: NestedSignal
  readonly #entries: Entry<Result>[] = []
  readonly #waiting: Entry<Result>[] = []
  readonly #running = new Set<Entry<Result>>()
  #settled = false
  /** The position of the first call whose failure prevents later calls. */
  #failedAt = Infinity

  constructor(options: Options<Result>) {
    this.#options = options
    this.#response = nestSignal(options.signal)
    this.#response.signal.addEventListener('abort', () => this.#advance(), { once: true })
  }

  /** The results of the calls so far, in call order. If a task rejects, so does its result. */
  get results(): readonly Promise<Result>[] {
    return this.#entries.map(({ done }) => done.promise)
  }

  add(task: Task<Result>): void {
    const done = Promise.withResolvers<Result>()
    // Prevents an unhandled rejection if nobody awaits the result yet. Whoever awaits it later still gets the error.
    done.promise.catch(() => undefined)
    const index = this.#entries.length
    const entry = { index, task, batch: this.#batchFor(task), done, exclusive: !task.safe, resume: undefined }
    this.#entries.push(entry)
    this.#waiting.push(entry)
    this.#advance()
  }

  /** Lets those calls begin that had to wait for the complete response. Must be called as soon as the response is complete. */
  settle(): void {
    this.#settled = true
    this.#advance()
  }

  /** Cancels the remaining calls, and resolves when none of them is running any more. Must be called once for each scheduler. */
  async close(): Promise<void> {
    this.#response.abort('stopped')
    await Promise.allSettled(this.results)
    this.#response.dispose()
  }

  #batchFor(task: Task<Result>): NestedSignal {
    const last = this.#entries.at(-1)
    const isBatched = (task: Task<Result> | undefined): boolean => task?.safe === true && task.early !== false
    if (isBatched(task) && last !== undefined && isBatched(last.task) && !last.batch.signal.aborted) return last.batch
    return nestSignal(this.#response.signal)
  }

  /** Starts the calls that may start now, in order. */
  #advance(): void {
    for (let entry = this.#waiting[0]; entry !== undefined; entry = this.#waiting[0]) {
      if (entry.resume === undefined && this.#isGivenUp(entry)) {
        this.#waiting.shift()
        entry.done.resolve(this.#options.skipped(entry.batch.signal.reason === 'sibling' ? 'sibling' : 'stopped'))
        continue
      }
      if (entry.resume === undefined && entry.index > this.#failedAt && entry.task.readOnly !== true) {
        this.#waiting.shift()
        entry.done.resolve(this.#options.skipped('failed'))
        continue
      }
      if (!this.#mayRun(entry)) return
      this.#waiting.shift()
      this.#running.add(entry)
      if (entry.resume === undefined) void this.#start(entry)
      else entry.resume()
    }
  }

  #mayRun(entry: Entry<Result>): boolean {
    const isWanted = this.#settled || this.#isGivenUp(entry)
    if (entry.exclusive) return this.#running.size === 0 && isWanted
    if (entry.task.early === false && !isWanted) return false
    return this.#running.size < this.#options.limit && !this.#hasExclusive()
  }

  /** Whether a call was cancelled. Checks the response's signal too, because the batch's own signal may not have been aborted yet. */
  #isGivenUp({ batch }: Entry<Result>): boolean {
    return batch.signal.aborted || this.#response.signal.aborted
  }

  #hasExclusive(): boolean {
    for (const { exclusive } of this.#running) if (exclusive) return true
    return false
  }

  async #start(entry: Entry<Result>): Promise<void> {
    const call = nestSignal(entry.batch.signal)
    try {
      const result = await entry.task.run({ signal: call.signal, alone: () => this.#alone(entry) })
      if (this.#options.isBroken(result) && !call.signal.aborted) entry.batch.abort('sibling')
      const isStopping = entry.task.readOnly !== true && this.#options.stopsLater?.(result) === true
      if (isStopping) this.#failedAt = Math.min(this.#failedAt, entry.index)
      entry.done.resolve(result)
    } catch (error) {
      entry.done.reject(error)
    } finally {
      call.dispose()
      this.#running.delete(entry)
      this.#advance()
    }
  }

  #alone(entry: Entry<Result>): Promise<void> {
    if (entry.exclusive) return Promise.resolve()
    entry.exclusive = true
    this.#running.delete(entry)
    const { promise, resolve } = Promise.withResolvers<void>()
    entry.resume = resolve
    const place = this.#waiting.findIndex(({ index }) => index > entry.index)
    this.#waiting.splice(place === -1 ? this.#waiting.length : place, 0, entry)
    this.#advance()
    return promise
  }
}
