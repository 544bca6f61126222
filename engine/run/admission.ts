import { costOf, millionthsOf, type ModelFacts, type Price } from '../models/index.ts'
import { nothing, type Micros } from '../core/money.ts'
import type { Usage } from '../core/model.ts'
import { noUsage } from '../core/usage.ts'

/** The decision on whether a request may be made. */
export type Admission =
  | {
      readonly admitted: true
      /** How many tokens the answer may have; undefined for the model's maximum. */
      readonly limit: number | undefined
      /** Whether `limit` is less than the model's maximum. */
      readonly isLowered: boolean
      /** Releases the reserved amount. Must be called after the response has ended and its usage has been counted. */
      readonly release: () => void
    }
  | { readonly admitted: false; readonly message: string }

/** The remaining budget. Undefined means unlimited. */
type Left = {
  readonly tokens: number | undefined
  /** What may still be spent. */
  readonly cost: Micros | undefined
}

/** The most that a request could use or cost. */
export type WorstCase = {
  /** The request's own size, in tokens. */
  readonly input: number
  /** How many tokens the answer may have. */
  readonly output: number
  /** Nothing if costs aren't counted. */
  readonly cost: Micros
}

/** The minimum number of tokens for an answer. If the budget leaves fewer, the request is not worth its price. */
const leastAnswer = 2048
/** The limit for the answer of an unknown model, in tokens. Small servers refuse requests with a higher limit. */
const assumedLongest = 8192

/**
 * Calculates the most that a request could use, assuming that none of it is cached and that the answer is as long as possible.
 *
 * @param input how many tokens the request has
 * @returns the worst case. If `fits` is false, even a request with the shortest useful answer would exceed the remaining budget
 */
export function worstCase(
  input: number,
  { price, longestOutput }: Pick<ModelFacts, 'price' | 'longestOutput'>,
  left: Left,
): {
  readonly fits: boolean
  readonly use: WorstCase
  readonly limit: number | undefined
  readonly isLowered: boolean
} {
  const longest = longestOutput ?? assumedLongest
  const least = Math.min(leastAnswer, longest)
  const priced = left.cost === undefined ? undefined : price
  const written = priced !== undefined && priced.cacheWrite > priced.input ? input : 0
  const usage = (output: number): Usage => ({
    ...noUsage,
    inputTokens: input,
    cacheWriteInputTokens: written,
    outputTokens: output,
  })
  const use = (output: number): WorstCase => ({
    input,
    output,
    cost: priced === undefined ? nothing : costOf(usage(output), priced),
  })
  const isWithin = ({ output, cost }: WorstCase): boolean =>
    input + output <= (left.tokens ?? Infinity) && cost <= (left.cost ?? Infinity)
  if (!isWithin(use(least))) return { fits: false, use: use(least), limit: undefined, isLowered: false }
  const whole = use(longest)
  if (isWithin(whole)) {
    return { fits: true, use: whole, limit: longestOutput === undefined ? longest : undefined, isLowered: false }
  }
  const byCost = priced === undefined ? Infinity : longestFor(left.cost ?? Infinity, usage, priced)
  const byTokens = left.tokens === undefined ? Infinity : left.tokens - input
  const output = Math.max(least, Math.min(byCost, byTokens))
  return { fits: true, use: use(output), limit: output, isLowered: true }
}

/** How many tokens an answer may have so that the request costs no more than `left`. */
function longestFor(left: number, usage: (output: number) => Usage, price: Price): number {
  const without = millionthsOf(usage(0), price)
  const perToken = millionthsOf(usage(1), price) - without
  return perToken <= 0 ? Infinity : Math.floor((left - without) / perToken)
}
