import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Account, RateLimits, RequestEnd } from '../../core/request-gate.ts'
import { nameOf, slowestMs, windowMs, type RequestLimiter } from '../run/rate-limiter.ts'
import { rateScript } from './rate-script.ts'
import type { Carrier } from './redis.ts'

/**
 * The maximum time, in milliseconds, that a waiting request sleeps before it asks again: it may be admitted earlier if other requests used less than
 * they reserved.
 */
const pollMs = 500
/**
 * How long to wait for an answer from Redis, in milliseconds. If none comes, Redis is treated as unavailable: for the same length of time, the
 * process decides about new requests alone.
 */
const answerMs = 5000

/** The hash by which Redis identifies the script. */
const scriptHash = createHash('sha1').update(rateScript).digest('hex')

type Entry = {
  readonly id: string
  readonly tokens: number
  readonly owner: string
  readonly admit: Parameters<RequestLimiter['enter']>[3]
}
type Line = { readonly account: Account; readonly entries: Entry[]; isMoving: boolean }

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
  #last = 0
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
    line.entries.push({ id: `${this.#own}:${++this.#last}`, tokens, owner, admit })
    if (!line.isMoving) void this.#move(line)
  }

  leave(owner: string): void {
    this.#options.alone.leave(owner)
    for (const { account, entries } of this.#lines.values()) {
      for (const entry of entries.filter((each) => each.owner === owner)) {
        entries.splice(entries.indexOf(entry), 1)
        this.#tell(account, 'drop', entry.id)
      }
    }
  }

  heard(account: Account, { requests, tokens }: RateLimits): void {
    this.#options.alone.heard(account, { requests, tokens })
    this.#tell(account, 'heard', '', requests ?? '', tokens ?? '')
  }

  /** Runs the script by its hash. If Redis doesn't know the script yet, for example after a restart, the text of the script is sent. */
  async #run(...words: readonly (string | number)[]): Promise<unknown> {
    try {
      return await this.#redis.call('evalsha', scriptHash, ...words)
    } catch (error) {
      if (!(error as Error).message.startsWith('NOSCRIPT')) throw error
      return this.#redis.call('eval', rateScript, ...words)
    }
  }

  /** Asks Redis about the first request in a queue until that request is admitted, then about the next one. */
  async #move(line: Line): Promise<void> {
    line.isMoving = true
    for (let first = line.entries[0]; first !== undefined; first = line.entries[0]) {
      const { requests, tokens } = this.#options.limits()
      const words = [Math.ceil(first.tokens), requests ?? '', tokens ?? '']
      const wait = await this.#ask(line.account, 'enter', first.id, ...words).catch(() => undefined)
      if (wait === undefined) this.#leaveToAlone(line)
      else if (wait > 0) await sleep(Math.min(wait, pollMs))
      else this.#admit(line, first)
    }
    line.isMoving = false
  }

  #admit({ account, entries }: Line, entry: Entry): void {
    const at = entries.indexOf(entry)
    // The entry is missing if its run has ended in the meantime. `admit` is called nevertheless, because it then releases the reservation.
    if (at >= 0) entries.splice(at, 1)
    const leave = (end: RequestEnd): void => {
      const tokens = end.type === 'answered' ? Math.round(end.tokens) : 0
      const isLimit = end.type === 'failed' && end.kind === 'limit'
      const wait = end.type === 'failed' && end.waitMs !== undefined ? Math.ceil(end.waitMs) : ''
      const estimate = end.type === 'answered' ? Math.ceil(entry.tokens) : 0
      this.#tell(account, 'left', entry.id, tokens, estimate, isLimit ? 'limit' : '', wait)
    }
    entry.admit(leave, () => this.#tell(account, 'arrived', entry.id, slowestMs))
  }

  #leaveToAlone({ account, entries }: Line): void {
    this.#goneUntil = Date.now() + answerMs
    if (!this.#isGoneTold)
      this.#options.say('Redis does not answer: until it does, this worker stays within its share of the limits.')
    this.#isGoneTold = true
    for (const { tokens, owner, admit } of entries.splice(0)) this.#options.alone.enter(account, tokens, owner, admit)
  }

  /**
   * Sends an operation to Redis without waiting for the answer. If Redis is unavailable, the operation is lost. That does no lasting harm, because
   * the data in Redis expires after some time.
   */
  #tell(account: Account, what: string, id: string, ...words: readonly (string | number)[]): void {
    this.#ask(account, what, id, ...words).catch(() => undefined)
  }

  async #ask(account: Account, what: string, id: string, ...words: readonly (string | number)[]): Promise<number> {
    // The account's name is hashed, so that the keys in Redis reveal nothing about the account.
    const hash = createHash('sha256').update(nameOf(account)).digest('hex')
    const keys = ['known', 'sent', 'used', 'waiting', 'seen'].map(
      (name) => `portcullis:rate:${hash.slice(0, 24)}:${name}`,
    )
    const all = [...keys, refusalsKey(this.#options.batch)]
    const timer = new AbortController()
    const late = sleep(answerMs, undefined, { signal: timer.signal }).then(() => {
      throw new Error('Redis does not answer')
    })
    try {
      const asked = this.#run(all.length, ...all, what, id, this.#windowMs, ...words)
      return Number(await Promise.race([asked, late]))
    } finally {
      timer.abort()
      late.catch(() => undefined)
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
