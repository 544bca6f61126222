import type { Account, RateLimits, RequestEnd } from '../../core/request-gate.ts'
import { arrive, budgetSchema, hear, send, settle, type Counted, type RateBudget } from './rate-budget.ts'

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

type Waiting = {
  readonly tokens: number
  readonly owner: string
  readonly admit: (leave: (end: RequestEnd) => void, arrived: () => void) => void
}
type Line = { readonly account: Account; readonly budget: RateBudget; waiting: Waiting[]; wakesAt: number }

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
  readonly #lines = new Map<string, Line>()

  constructor(options: LimiterOptions) {
    this.#options = options
    this.#own = options.limits
  }

  enter(account: Account, tokens: number, owner: string, admit: Waiting['admit']): void {
    const line = this.#lineOf(account)
    line.waiting.push({ tokens, owner, admit })
    this.#pump(line)
  }

  leave(owner: string): void {
    for (const line of this.#lines.values()) line.waiting = line.waiting.filter((each) => each.owner !== owner)
  }

  /** Changes the user's limits. A limit that is undefined here is not changed. */
  limit({ requests, tokens }: RateLimits): void {
    this.#own = { requests: requests ?? this.#own.requests, tokens: tokens ?? this.#own.tokens }
    for (const line of this.#lines.values()) this.#pump(line)
  }

  heard(account: Account, limits: RateLimits): void {
    const line = this.#lineOf(account)
    hear(line.budget, limits)
    this.#pump(line)
  }

  #lineOf(account: Account): Line {
    const key = nameOf(account)
    const line = this.#lines.get(key) ?? { account, budget: budgetSchema.parse({}), waiting: [], wakesAt: 0 }
    this.#lines.set(key, line)
    return line
  }

  #pump(line: Line): void {
    const { clock } = this.#options
    for (let next = line.waiting[0]; next !== undefined; next = line.waiting[0]) {
      const { tokens } = next
      const now = clock.now()
      const answer = send(line.budget, this.#own, tokens, { now })
      if (typeof answer === 'number') {
        if (line.wakesAt > now && line.wakesAt <= now + answer) return
        line.wakesAt = now + answer
        return clock.after(answer, () => this.#pump(line))
      }
      let counted = answer
      line.waiting.shift()
      next.admit(
        (end) => this.#settle(line, counted, end, tokens),
        () => (counted = arrive(line.budget, counted, clock.now())),
      )
    }
  }

  #settle(line: Line, counted: Counted, end: RequestEnd, estimate: number): void {
    const { clock, throttled, usedUp } = this.#options
    const now = clock.now()
    const isNew = settle(line.budget, counted, end, estimate, now)
    if (end.type === 'failed' && end.kind === 'quota')
      usedUp(line.account, end.waitMs === undefined ? undefined : now + end.waitMs)
    if (isNew) throttled(line.budget.heldUntil)
    this.#pump(line)
  }
}
