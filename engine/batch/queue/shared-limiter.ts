import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'
import type { Account, RateLimits, RequestEnd } from '../../core/request-gate.ts'
import { nameOf, type RequestLimiter } from '../run/rate-limiter.ts'
import { arrive, budgetSchema, hear, send, settle, windowMs, type Counted } from '../run/rate-budget.ts'
import type { Carrier } from './carrier.ts'

/** A budget in Redis, and the processes that wait for their next request, each with its number in the line and the time at which it last asked. */
const sharedSchema = budgetSchema.extend({
  waiting: z.record(z.string(), z.object({ number: z.number(), seen: z.number() })).default({}),
  last: z.number().default(0),
})
type SharedBudget = z.infer<typeof sharedSchema>

/**
 * Replaces a text unless somebody else has changed it. BullMQ's own limiter can't take the place of the budget: it counts jobs (`INCR` by one when a job
 * begins), but a job is a run with many requests, and each uses a different number of tokens.
 */
const swap = `
if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1`

/** Requests of the same quarter of a second count together, so that a budget in Redis stays small. */
const stepMs = 250
/** How long a process with a waiting request may be silent before other requests are admitted first, in milliseconds. */
const ticketMs = 10_000
/**
 * The maximum time, in milliseconds, that a waiting request sleeps before it asks again: it may be admitted earlier if other requests used less than
 * they reserved.
 */
const pollMs = 500
/** How long a process waits that isn't the first in the line, in milliseconds. */
const betweenMs = 250
/**
 * How long to wait for an answer from Redis, in milliseconds. If none comes, Redis is treated as unavailable: for the same length of time, the
 * process decides about new requests alone.
 */
const answerMs = 5000

type Entry = {
  readonly tokens: number
  readonly owner: string
  readonly admit: Parameters<RequestLimiter['enter']>[3]
}
type Line = { readonly account: Account; entries: Entry[]; isMoving: boolean }

/** The dependencies of the limiter, apart from Redis. */
type SharedLimiterOptions = {
  /** The hash that identifies the batch. */
  readonly batch: string
  /** Returns the user's limits, which replace the limits of the providers. Called each time Redis is asked to admit a request. */
  readonly limits: () => RateLimits
  /** Enforces this process's share of the limits while Redis is unavailable. */
  readonly alone: RequestLimiter
  readonly say: (sentence: string) => void
  readonly windowMs?: number
}

/**
 * Keeps the total number of requests and tokens of all workers within the limits per minute. It does for all workers, through Redis, what
 * `RateLimiter` does for one process. For each account, Redis keeps one queue, in which each process waits with only the first of its own requests.
 * While Redis doesn't answer, each worker keeps to its share of the limits.
 */
export class SharedRateLimiter implements RequestLimiter {
  readonly #redis: Carrier['redis']
  readonly #options: SharedLimiterOptions
  readonly #windowMs: number
  readonly #own = randomUUID()
  readonly #lines = new Map<string, Line>()
  #turn: Promise<unknown> = Promise.resolve()
  #goneUntil = 0
  #isGoneTold = false

  constructor({ redis }: Pick<Carrier, 'redis'>, options: SharedLimiterOptions) {
    this.#redis = redis
    this.#options = options
    this.#windowMs = options.windowMs ?? windowMs
  }

  enter(account: Account, tokens: number, owner: string, admit: Entry['admit']): void {
    if (Date.now() < this.#goneUntil) return this.#options.alone.enter(account, tokens, owner, admit)
    const key = nameOf(account)
    const line = this.#lines.get(key) ?? { account, entries: [], isMoving: false }
    this.#lines.set(key, line)
    line.entries.push({ tokens, owner, admit })
    if (!line.isMoving) void this.#move(line)
  }

  leave(owner: string): void {
    this.#options.alone.leave(owner)
    for (const line of this.#lines.values()) {
      const isFirst = line.entries[0]?.owner === owner
      line.entries = line.entries.filter((entry) => entry.owner !== owner)
      if (isFirst && line.entries.length === 0) this.#tell(line.account, ({ waiting }) => delete waiting[this.#own])
    }
  }

  heard(account: Account, limits: RateLimits): void {
    this.#options.alone.heard(account, limits)
    this.#tell(account, (budget) => hear(budget, limits))
  }

  /** Asks Redis about the first request in a queue until that request is admitted, then about the next one. */
  async #move(line: Line): Promise<void> {
    line.isMoving = true
    for (let first = line.entries[0]; first !== undefined; first = line.entries[0]) {
      const { tokens } = first
      const answer = await this.#change(line.account, (budget, now) => this.#ask(budget, tokens, now)).catch(
        () => undefined,
      )
      if (answer === undefined) this.#leaveToAlone(line)
      else if (typeof answer === 'number') await sleep(Math.min(answer, pollMs))
      else this.#admit(line, first, answer)
    }
    line.isMoving = false
  }

  #ask(budget: SharedBudget, tokens: number, now: number): Counted | number {
    const own = budget.waiting[this.#own] ?? { number: (budget.last += 1), seen: now }
    const all = Object.entries(budget.waiting).filter(([, { seen }]) => seen > now - ticketMs)
    budget.waiting = { ...Object.fromEntries(all), [this.#own]: { ...own, seen: now } }
    if (all.some(([, { number }]) => number < own.number)) return betweenMs
    const answer = send(budget, this.#options.limits(), tokens, { now, window: this.#windowMs, step: stepMs })
    if (typeof answer !== 'number') delete budget.waiting[this.#own]
    return answer
  }

  #admit(line: Line, entry: Entry, answer: Counted): void {
    // The entry is missing if its run has ended in the meantime. `admit` is called nevertheless, because it then releases the reservation.
    line.entries = line.entries.filter((each) => each !== entry)
    let counted = answer
    const arrived = (budget: SharedBudget, now: number): Counted => arrive(budget, counted, now)
    const leave = (end: RequestEnd): void =>
      this.#tell(
        line.account,
        (budget, now) => settle(budget, counted, end, entry.tokens, now),
        (isNew) => isNew && this.#tellRefusal(),
      )
    entry.admit(leave, () => this.#tell(line.account, arrived, (moved) => (counted = moved)))
  }

  #tellRefusal(): void {
    const key = refusalsKey(this.#options.batch)
    this.#redis.call('incr', key).catch(() => undefined)
    this.#redis.call('pexpire', key, this.#windowMs * 10).catch(() => undefined)
  }

  #leaveToAlone(line: Line): void {
    this.#goneUntil = Date.now() + answerMs
    if (!this.#isGoneTold)
      this.#options.say('Redis does not answer: until it does, this worker stays within its share of the limits.')
    this.#isGoneTold = true
    for (const { tokens, owner, admit } of line.entries.splice(0))
      this.#options.alone.enter(line.account, tokens, owner, admit)
  }

  /**
   * Changes a budget without waiting for the answer. If Redis is unavailable, the change is lost. That does no lasting harm, because the data in Redis
   * expires after some time.
   */
  #tell<T>(account: Account, act: (budget: SharedBudget, now: number) => T, then?: (result: T) => void): void {
    this.#change(account, act, then).catch(() => undefined)
  }

  /** Changes a budget, after the changes that were asked for before. @throws an error if Redis doesn't answer in time */
  async #change<T>(
    account: Account,
    act: (budget: SharedBudget, now: number) => T,
    then?: (result: T) => void,
  ): Promise<T> {
    const end = new AbortController()
    const late = sleep(answerMs, undefined, { signal: end.signal }).then(() => {
      throw new Error('Redis does not answer')
    })
    const changed = this.#turn
      .then(() => this.#swap(account, act, end.signal))
      .then((result) => {
        then?.(result)
        return result
      })
    this.#turn = changed.catch(() => undefined)
    try {
      return await Promise.race([changed, late])
    } finally {
      end.abort()
      late.catch(() => undefined)
    }
  }

  /** @param act changes the budget. It is called again if another process has changed the budget meanwhile */
  async #swap<T>(account: Account, act: (budget: SharedBudget, now: number) => T, end: AbortSignal): Promise<T> {
    // The account's name is hashed, so that the keys in Redis reveal nothing about the account.
    const key = `portcullis:rate:${createHash('sha256').update(nameOf(account)).digest('hex').slice(0, 24)}`
    for (;;) {
      end.throwIfAborted()
      const [before, time] = await Promise.all([this.#redis.get(key), this.#redis.call('time')])
      const [seconds, micros] = time as readonly string[]
      const budget = sharedSchema.parse(JSON.parse(before ?? '{}'))
      const result = act(budget, Number(seconds) * 1000 + Math.floor(Number(micros) / 1000))
      end.throwIfAborted()
      const after = JSON.stringify(budget)
      const isDone = await this.#redis.call('eval', swap, 1, key, before ?? '', after, this.#windowMs * 10)
      if (Number(isDone) === 1) return result
    }
  }
}

/**
 * Calls a function whenever a provider has refused a request from one of the batch's workers because there were too many requests. For several
 * requests that are refused together, the function is called only once.
 *
 * @returns a function that stops these calls
 */
export function watchRefusals({ redis }: Pick<Carrier, 'redis'>, batch: string, throttled: () => void): () => void {
  let known: number | undefined
  const look = async (): Promise<void> => {
    const count = Number((await redis.get(refusalsKey(batch))) ?? 0)
    for (let more = count - (known ?? count); more > 0; more--) throttled()
    known = count
  }
  const looking = setInterval(() => void look().catch(() => undefined), 1000)
  void look().catch(() => undefined)
  return () => clearInterval(looking)
}

function refusalsKey(batch: string): string {
  return `portcullis:rate:refusals:${batch.slice(0, 16)}`
}
