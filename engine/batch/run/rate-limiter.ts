import type { Account, RateLimits, RequestEnd } from '../../core/request-gate.ts'

/** How long a request counts towards the limits per minute, in milliseconds: a minute, plus a margin for the time that requests take to arrive. */
export const windowMs = 61_000
/**
 * The factor by which the estimated tokens of requests are multiplied at first, because a request may use more tokens than estimated. Later, the
 * factor approaches this value times the ratio of actual to estimated tokens, and stays between `leastFactor` and `mostFactor`.
 */
export const caution = 1.15
export const [leastFactor, mostFactor] = [0.9, 4]
/**
 * The longest time that a request is assumed to take to reach the provider, in milliseconds. If the response begins later than that, the rest of the
 * time is attributed to the model.
 */
export const slowestMs = 2000
/**
 * The wait after a refusal that doesn't say how long to wait, in milliseconds. Until a request is answered, it is doubled with each further refusal,
 * up to `longestWaitMs`.
 */
export const usualWaitMs = 2000
export const longestWaitMs = 120_000

/** Provides the current time and calls functions after a delay. */
export type Clock = { readonly now: () => number; readonly after: (ms: number, act: () => void) => void }

export type LimiterOptions = {
  /** The user's limits, which replace the limits of the providers. */
  readonly limits: RateLimits
  /**
   * Called when a provider has refused requests because there were too many. No request is sent before the time `until`. If several requests that
   * were sent together are refused, the function is called only once.
   */
  readonly throttled: (until: number) => void
  /** Called when a quota is exhausted. `until` is defined if the provider says when quota will be available again. */
  readonly usedUp: (account: Account, until: number | undefined) => void
  readonly clock: Clock
}

type Sent = { at: number; tokens: number }
type Waiting = {
  readonly tokens: number
  readonly owner: string
  readonly admit: (leave: (end: RequestEnd) => void, arrived: () => void) => void
}
type Bucket = {
  readonly account: Account
  limits: RateLimits
  sent: Sent[]
  waiting: Waiting[]
  /** No request is sent before this time. */
  heldUntil: number
  refusals: number
  /** The factor by which the estimated tokens of requests are multiplied. Its initial value is `caution`. */
  factor: number
}

/** Returns a string that identifies an account. All requests of an account count towards the same limits. */
export function nameOf({ provider, key, model }: Account): string {
  return JSON.stringify([provider, key, model])
}

/** Delays requests so that they stay within the rate limits. The requests come from the runs of one process, or from all workers of a batch. */
export type RequestLimiter = {
  /**
   * Admits a request when its turn comes. Requests of one account are admitted in order.
   *
   * @param owner the name of the run that asks; `leave` takes the same name
   * @param admit called when the request may be sent, with two functions: one that reports the outcome of the request, and one that reports that the
   * provider has received it
   */
  enter(account: Account, tokens: number, owner: string, admit: Waiting['admit']): void
  /** Drops the waiting requests of an owner. Requests that were already sent still count towards the limits. */
  leave(owner: string): void
  /** Records the limits that a provider reports. They don't replace the user's limits. */
  heard(account: Account, limits: RateLimits): void
}

/**
 * Keeps the requests and tokens of all runs within limits per minute, for each provider, key and model. Before a request is sent, an estimate of its
 * tokens is counted; when the request has ended, its actual usage is counted instead. After a refusal, all requests of the account wait for as long
 * as the provider asks; if it names no time, they wait for a time that grows with each refusal.
 */
export class RateLimiter implements RequestLimiter {
  readonly #options: LimiterOptions
  #own: RateLimits
  readonly #buckets = new Map<string, Bucket>()

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#own = options.limits
  }

  enter(account: Account, tokens: number, owner: string, admit: Waiting['admit']): void {
    const bucket = this.#bucketOf(account)
    bucket.waiting.push({ tokens, owner, admit })
    this.#pump(bucket)
  }

  leave(owner: string): void {
    for (const bucket of this.#buckets.values()) {
      bucket.waiting = bucket.waiting.filter((each) => each.owner !== owner)
    }
  }

  /** Changes the user's limits. A limit that is undefined here is not changed. */
  limit({ requests, tokens }: RateLimits): void {
    this.#own = { requests: requests ?? this.#own.requests, tokens: tokens ?? this.#own.tokens }
    for (const { account } of this.#buckets.values()) this.heard(account, { requests: undefined, tokens: undefined })
  }

  heard(account: Account, limits: RateLimits): void {
    const bucket = this.#bucketOf(account)
    const own = this.#own
    bucket.limits = {
      requests: own.requests ?? limits.requests ?? bucket.limits.requests,
      tokens: own.tokens ?? limits.tokens ?? bucket.limits.tokens,
    }
    this.#pump(bucket)
  }

  #bucketOf(account: Account): Bucket {
    const key = nameOf(account)
    const known = this.#buckets.get(key)
    if (known !== undefined) return known
    const bucket: Bucket = {
      account,
      limits: this.#own,
      sent: [],
      waiting: [],
      heldUntil: 0,
      refusals: 0,
      factor: caution,
    }
    this.#buckets.set(key, bucket)
    return bucket
  }

  #pump(bucket: Bucket): void {
    const { clock } = this.#options
    for (let next = bucket.waiting[0]; next !== undefined; next = bucket.waiting[0]) {
      const { tokens } = next
      const wait = this.#waitOf(bucket, tokens * bucket.factor)
      if (wait > 0) return clock.after(wait, () => this.#pump(bucket))
      bucket.waiting.shift()
      const sent: Sent = { at: clock.now(), tokens: tokens * bucket.factor }
      bucket.sent.push(sent)
      next.admit(
        (end) => this.#settle(bucket, sent, end, tokens),
        () => (sent.at = Math.min(clock.now(), sent.at + slowestMs)),
      )
    }
  }

  /** How long a request with this many tokens has to wait, in milliseconds; 0 if it can be sent. */
  #waitOf(bucket: Bucket, tokens: number): number {
    const now = this.#options.clock.now()
    if (bucket.heldUntil > now) return bucket.heldUntil - now
    bucket.sent = bucket.sent.filter(({ at }) => at > now - windowMs)
    const { sent } = bucket
    const { requests: mostRequests = Infinity, tokens: mostTokens = Infinity } = bucket.limits
    let [requests, used] = [sent.length, sent.reduce((sum, each) => sum + each.tokens, 0)]
    // A request that needs more tokens than the limit permits is sent when no other request counts towards the limit.
    const fits = (): boolean => requests + 1 <= mostRequests && (used + tokens <= mostTokens || used < 1)
    if (fits()) return 0
    for (const each of sent) {
      requests -= 1
      used -= each.tokens
      if (fits()) return Math.max(1, each.at + windowMs - now)
    }
    return windowMs
  }

  #settle(bucket: Bucket, sent: Sent, end: RequestEnd, estimate: number): void {
    const { clock, throttled, usedUp } = this.#options
    const now = clock.now()
    if (end.type === 'answered') {
      sent.tokens = end.tokens
      bucket.refusals = 0
      const seen = (caution * end.tokens) / Math.max(1, estimate)
      const next = bucket.factor + (seen > bucket.factor ? 0.5 : 0.1) * (seen - bucket.factor)
      bucket.factor = Math.min(mostFactor, Math.max(leastFactor, next))
    } else {
      // A request that failed or was refused counts as having used no tokens.
      sent.tokens = 0
      const until = end.waitMs === undefined ? undefined : now + end.waitMs
      if (end.kind === 'quota') usedUp(bucket.account, until)
      if (end.kind === 'limit') {
        const isNew = bucket.heldUntil <= now
        if (isNew) bucket.refusals += 1
        const usual = Math.min(longestWaitMs, usualWaitMs * 2 ** Math.max(0, bucket.refusals - 1))
        bucket.heldUntil = Math.max(bucket.heldUntil, until ?? now + usual)
        if (isNew) throttled(bucket.heldUntil)
      }
    }
    this.#pump(bucket)
  }
}
