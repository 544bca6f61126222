import { setTimeout as sleep } from 'node:timers/promises'
import type { BatchFolder } from '../folder/batch-folder.ts'
import { mostOfAttempt } from '../folder/costs.ts'
import type { RateLimits } from '../../core/request-gate.ts'
import { controlStamp, readControl } from '../folder/control.ts'
import { readWish } from '../folder/wish.ts'
import type { AttemptRecord } from '../folder/records.ts'
import type { Trial } from '../trials.ts'
import { Concurrency } from './concurrency.ts'
import { Money } from './money.ts'
import { endedAttempts, isOpen, judgeTrial, settleTrial, waitBeforeNext } from './settle-trial.ts'

/** Runs an attempt until it ends, whatever the outcome. Throws if the folder can't be written to. */
export type Attempt = (
  trial: Trial,
  attempt: number,
  wish: {
    readonly maxCost: number | undefined
    /** Called when the run has begun, which shows that the configuration is valid. */
    readonly began: () => void
  },
  signal: AbortSignal,
) => Promise<AttemptRecord>

type SupervisorOptions = {
  /** The number of simultaneous runs. It applies until another number is requested. */
  readonly workers: () => number
  /** How many additional runs are handed out in advance, so that no worker waits for the next one. */
  readonly ahead: () => number
  /** How many attempts of a trial may end without an answer. */
  readonly attempts: number
  readonly maxCost: number | undefined
  /** The maximum wait before a second attempt, in milliseconds. It is doubled for each further attempt; each wait is shortened at random. */
  readonly backoffMs: number
  /** Whether this process still holds the lease on the folder. */
  readonly isHeld: () => boolean
  /** When this signal is aborted, the running tasks are interrupted, and no further task begins. */
  readonly signal: AbortSignal
  readonly process: number
  readonly tell: (what: SupervisorNews) => void
  /** Whether a worker could run this trial now. If not, the trial waits, and other trials are tried first. */
  readonly mayBegin: (trial: Trial) => boolean
  /** Called with new rate limits when another process requests them. */
  readonly limit: (limits: RateLimits) => void
}

/** Events that a supervisor reports to observers. */
type SupervisorNews =
  | { readonly type: 'begun'; readonly trial: Trial; readonly attempt: number }
  | { readonly type: 'ended'; readonly trial: Trial; readonly record: AttemptRecord; readonly settled: boolean }
  | { readonly type: 'paused'; readonly why: string; readonly until: Date | undefined }
  | { readonly type: 'resumed' }

/** Why a batch ended: every trial is settled, the user or a signal ended it, the cost limit is reached, no run can begin, or no result can be stored. */
export type BatchEnd =
  | { readonly why: 'settled' | 'interrupted' | 'cancelled' | 'budget' }
  /** `failed`: no result can be stored, because the folder can't be written to, or because another process has taken over the batch. */
  | { readonly why: 'usage' | 'failed'; readonly message: string }

/** If this many runs in a row can't begin, the batch ends, because the cause is then probably not in the tasks. */
const mostUnbegun = 3
const takenOver =
  'Another process has taken over this batch, because this process was suspended for too long. The runs of this process were stopped. To see the progress, run agent batch status.'
const lookMs = 500

type Open = {
  readonly trial: Trial
  notBefore: number
  /** The cost limit of an unfinished attempt that a worker was given before the batch was started again. The money is already reserved. */
  readonly kept?: { readonly limit: number | undefined }
}

/** Runs the open trials of a batch, several at a time, until each of them is settled or the batch ends. */
export class Supervisor {
  readonly #folder: BatchFolder
  readonly #attempt: Attempt
  readonly #options: SupervisorOptions
  readonly #money: Money
  readonly #concurrency = new Concurrency(Date.now)
  readonly #running = new Map<string, AbortController>()
  #waiting: Open[] = []
  #asked: number | undefined
  #unbegun: string[] = []
  #hasBegun = false
  #stop: BatchEnd | undefined
  #paused = false
  #wake = Promise.withResolvers<void>()
  #pauseUntil: number | undefined

  constructor(folder: BatchFolder, attempt: Attempt, options: SupervisorOptions) {
    this.#folder = folder
    this.#attempt = attempt
    this.#options = options
    this.#money = new Money(options.maxCost, folder.manifest.max_cost_per_run, () => this.#workers())
  }

  /** Reduces the number of simultaneous runs. Call this when a provider has refused requests because there were too many. */
  throttled(): void {
    this.#concurrency.throttled()
  }

  /** Pauses the batch: no run begins until the given time. */
  pause(why: string, until: Date): void {
    if (this.#pauseUntil !== undefined && this.#pauseUntil >= until.getTime()) return
    this.#pauseUntil = until.getTime()
    this.#folder.note({ type: 'paused', why, until: until.toISOString() })
    this.#options.tell({ type: 'paused', why, until })
    this.#wake.resolve()
  }

  /** Runs the given trials, except those that already have a result. */
  async run(trials: readonly Trial[]): Promise<BatchEnd> {
    const all = trials.flatMap((trial) => this.#openOf(trial)).map((open) => this.#keep(open))
    // Trials that a worker has already been given come first: the money for them is reserved, and other trials may have to wait for that money.
    this.#waiting = [...all.filter(({ kept }) => kept !== undefined), ...all.filter(({ kept }) => kept === undefined)]
    const { signal, process } = this.#options
    this.#folder.note({ type: 'batch-started', pid: process, workers: this.#workers(), missing: this.#waiting.length })
    const interrupt = (): void => this.#end({ why: 'interrupted' })
    signal.addEventListener('abort', interrupt, { once: true })
    if (signal.aborted) interrupt()
    let stamp: string | undefined
    while (this.#running.size > 0 || (this.#stop === undefined && this.#waiting.length > 0)) {
      const now = controlStamp(this.#folder.path)
      if (now !== stamp) this.#obey()
      stamp = now
      if (this.#stop === undefined && !this.#options.isHeld()) this.#end({ why: 'failed', message: takenOver })
      this.#begin()
      const isOver = this.#running.size === 0 && (this.#stop !== undefined || this.#waiting.length === 0)
      if (!isOver) await this.#next()
    }
    signal.removeEventListener('abort', interrupt)
    const end = this.#stop ?? { why: 'settled' }
    this.#folder.note({ type: 'batch-ended', why: end.why })
    return end
  }

  /** Returns the trial in a list if it is still open, otherwise an empty list. In both cases, the cost of its earlier attempts is counted. */
  #openOf(trial: Trial): readonly Open[] {
    for (const attempt of this.#folder.attempts(trial.key)) {
      this.#money.count(mostOfAttempt(this.#folder, trial.key, attempt))
    }
    return isOpen(this.#folder, trial, this.#options.attempts) ? [{ trial, notBefore: 0 }] : []
  }

  /** If a worker may still be running an attempt of this trial, reserves the money for that attempt. Called before any new attempt begins. */
  #keep(open: Open): Open {
    const [{ key }, last] = [open.trial, this.#folder.attempts(open.trial.key).at(-1) ?? 0]
    const given = this.#folder.attemptOf(key, last) === undefined ? readWish(this.#folder, key, last) : undefined
    return given === undefined ? open : { ...open, kept: this.#money.keep(given.maxCost) }
  }

  #obey(): void {
    const { paused, cancelled, workers, rpm, tpm } = readControl(this.#folder.path)
    if (rpm !== undefined || tpm !== undefined) this.#options.limit({ requests: rpm, tokens: tpm })
    this.#asked = workers
    if (cancelled) this.#end({ why: 'cancelled' })
    if (paused === this.#paused) return
    this.#paused = paused
    this.#folder.note(paused ? { type: 'paused', why: 'asked' } : { type: 'resumed' })
    this.#options.tell(paused ? { type: 'paused', why: 'asked', until: undefined } : { type: 'resumed' })
  }

  #workers(): number {
    return this.#asked ?? this.#options.workers()
  }

  #ahead(): number {
    return this.#asked === undefined ? this.#options.ahead() : 0
  }

  /** Begins the runs that may begin now. */
  #begin(): void {
    const now = Date.now()
    if (this.#pauseUntil !== undefined && now >= this.#pauseUntil) {
      this.#pauseUntil = undefined
      this.#folder.note({ type: 'resumed' })
      this.#options.tell({ type: 'resumed' })
    }
    while (this.#stop === undefined && !this.#paused && this.#pauseUntil === undefined) {
      // Until one run has begun successfully, runs are started one at a time, because an error in the configuration would affect them all.
      const most = this.#hasBegun ? this.#concurrency.of(this.#workers()) + this.#ahead() : 1
      const at = this.#waiting.findIndex(({ trial, notBefore }) => notBefore <= now && this.#options.mayBegin(trial))
      const next = this.#waiting[at]
      if (next === undefined || this.#running.size >= most) return
      const reserved = next.kept ?? this.#money.reserve()
      if (reserved === 'used-up') return this.#end({ why: 'budget' })
      if (reserved === 'wait') return
      this.#waiting.splice(at, 1)
      this.#work(next.trial, reserved.limit).catch((error: Error) => {
        this.#running.delete(next.trial.key)
        this.#end({ why: 'failed', message: error.message })
      })
    }
  }

  async #work(trial: Trial, maxCost: number | undefined): Promise<void> {
    const controller = new AbortController()
    this.#running.set(trial.key, controller)
    const attempt = this.#folder.beginAttempt(trial.key)
    this.#options.tell({ type: 'begun', trial, attempt })
    const began = (): void => {
      this.#hasBegun = true
      this.#wake.resolve()
    }
    const record = await this.#attempt(trial, attempt, { maxCost, began }, controller.signal)
    this.#running.delete(trial.key)
    this.#money.settle(
      maxCost,
      record.outcome === 'lost' ? undefined : Math.max(record.cost_usd ?? 0, record.reserved_usd ?? 0),
    )
    const { outcome, cost_usd: cost, error } = record
    const more = { ...(cost === undefined ? {} : { cost_usd: cost }), ...(error === undefined ? {} : { error }) }
    this.#folder.note({ type: 'attempt-ended', trial: trial.key, attempt, outcome, ...more })
    const isSettled = this.#judge(trial, record)
    this.#options.tell({ type: 'ended', trial, record, settled: isSettled })
    this.#wake.resolve()
  }

  #judge(trial: Trial, record: AttemptRecord): boolean {
    if (record.outcome !== 'usage') this.#unbegun = []
    else if (!this.#hasBegun || this.#unbegun.push(trial.key) >= mostUnbegun) {
      // If the first run can't begin, or several in a row can't, the cause is probably not in the tasks.
      this.#end({ why: 'usage', message: record.error ?? 'no run could be started' })
      return false
    }
    if (this.#stop !== undefined && record.outcome === 'interrupted') return false
    const ended = endedAttempts(this.#folder, trial.key)
    if (judgeTrial(ended, this.#options.attempts) === 'settled') {
      settleTrial(this.#folder, trial, record)
      return true
    }
    this.#waiting.push({ trial, notBefore: Date.now() + waitBeforeNext(ended, this.#options.backoffMs) })
    return false
  }

  #end(end: BatchEnd): void {
    this.#stop ??= end
    if (end.why !== 'budget') for (const controller of this.#running.values()) controller.abort()
    this.#wake.resolve()
  }

  /** Waits for an event, such as the end of a run, but only until it is time to look for control requests again. */
  async #next(): Promise<void> {
    const timer = new AbortController()
    await Promise.race([this.#wake.promise, sleep(lookMs, undefined, { signal: timer.signal }).catch(() => undefined)])
    timer.abort()
    this.#wake = Promise.withResolvers()
  }
}
