import * as z from 'zod'
import type { RateLimits, RequestEnd } from '../../core/request-gate.ts'

/** What is left of a provider's limits per minute, for one key and model. These functions know no clock and no store, so that one process can keep a budget
 * in memory, and all workers of a batch one in Redis. */

/** How long a request counts towards the limits per minute, in milliseconds: a minute, plus a margin for the time that requests take to arrive. */
export const windowMs = 61_000
/**
 * The factor by which the estimated tokens of requests are multiplied at first, because a request may use more tokens than estimated. Later, the
 * factor approaches this value times the ratio of actual to estimated tokens, and stays between `leastFactor` and `mostFactor`.
 */
const caution = 1.15
const [leastFactor, mostFactor] = [0.9, 4]
/**
 * The longest time that a request is assumed to take to reach the provider, in milliseconds. If the response begins later than that, the rest of the
 * time is attributed to the model.
 */
const slowestMs = 2000
/**
 * The wait after a refusal that doesn't say how long to wait, in milliseconds. Until a request is answered, it is doubled with each further refusal,
 * up to `longestWaitMs`.
 */
const [usualWaitMs, longestWaitMs] = [2000, 120_000]

export const budgetSchema = z.object({
  /** The limits that the provider reported. */
  limits: z.object({ requests: z.number().optional(), tokens: z.number().optional() }).default({}),
  /** The requests in the window, those of one time together, earliest first. */
  sent: z.array(z.object({ at: z.number(), requests: z.number(), tokens: z.number() })).default([]),
  /** No request is sent before this time. */
  heldUntil: z.number().default(0),
  refusals: z.number().default(0),
  factor: z.number().default(caution),
})

export type RateBudget = z.infer<typeof budgetSchema>

/** A request that was counted: when, and with how many tokens. */
export type Counted = { readonly at: number; readonly tokens: number }

/**
 * Counts a request, with an estimate of its tokens, if it fits.
 *
 * @param own the user's limits, which replace those of the provider
 * @param options the time, how long requests count, and the time between two times that are told apart, in milliseconds
 * @returns how long the request has to wait, in milliseconds, if it doesn't fit now
 */
export function send(
  budget: RateBudget,
  own: RateLimits,
  estimate: number,
  { now, window = windowMs, step = 1 }: { readonly now: number; readonly window?: number; readonly step?: number },
): Counted | number {
  if (budget.heldUntil > now) return budget.heldUntil - now
  budget.sent = budget.sent.filter(({ at }) => at > now - window)
  const mostRequests = own.requests ?? budget.limits.requests ?? Infinity
  const mostTokens = own.tokens ?? budget.limits.tokens ?? Infinity
  const tokens = estimate * budget.factor
  let requests = budget.sent.reduce((sum, each) => sum + each.requests, 0)
  let used = budget.sent.reduce((sum, each) => sum + each.tokens, 0)
  // A request that needs more tokens than the limit permits is sent when no other request counts towards the limit.
  const fits = (): boolean => requests + 1 <= mostRequests && (used + tokens <= mostTokens || used < 1)
  if (fits()) {
    const at = Math.ceil(now / step) * step
    count(budget, at, 1, tokens)
    return { at, tokens }
  }
  for (const each of budget.sent) {
    requests -= each.requests
    used -= each.tokens
    if (fits()) return Math.max(1, each.at + window - now)
  }
  return window
}

/** Counts a request from now on, because its answer has begun. */
export function arrive(budget: RateBudget, { at, tokens }: Counted, now: number): Counted {
  const later = Math.max(at, Math.min(now, at + slowestMs))
  if (later === at || !budget.sent.some((each) => each.at === at)) return { at, tokens }
  count(budget, at, -1, -tokens)
  count(budget, later, 1, tokens)
  return { at: later, tokens }
}

/**
 * Counts the tokens that a request has used in place of the estimate. A request that failed or was refused used none.
 *
 * @returns whether the provider refused the request, and no other that was sent together with it before
 */
export function settle(
  budget: RateBudget,
  { at, tokens }: Counted,
  end: RequestEnd,
  estimate: number,
  now: number,
): boolean {
  if (budget.sent.some((each) => each.at === at))
    count(budget, at, 0, (end.type === 'answered' ? end.tokens : 0) - tokens)
  if (end.type === 'answered') {
    budget.refusals = 0
    const seen = (caution * end.tokens) / Math.max(1, estimate)
    const next = budget.factor + (seen > budget.factor ? 0.5 : 0.1) * (seen - budget.factor)
    budget.factor = Math.min(mostFactor, Math.max(leastFactor, next))
    return false
  }
  if (end.kind !== 'limit') return false
  const isNew = budget.heldUntil <= now
  if (isNew) budget.refusals += 1
  const usual = Math.min(longestWaitMs, usualWaitMs * 2 ** Math.max(0, budget.refusals - 1))
  budget.heldUntil = Math.max(budget.heldUntil, now + (end.waitMs ?? usual))
  return isNew
}

/** Notes the limits that a provider reports. */
export function hear(budget: RateBudget, { requests, tokens }: RateLimits): void {
  budget.limits = { requests: requests ?? budget.limits.requests, tokens: tokens ?? budget.limits.tokens }
}

function count(budget: RateBudget, at: number, requests: number, tokens: number): void {
  const known = budget.sent.find((each) => each.at === at)
  if (known === undefined) budget.sent.push({ at, requests, tokens })
  else Object.assign(known, { requests: known.requests + requests, tokens: known.tokens + tokens })
  budget.sent.sort((one, other) => one.at - other.at)
}
