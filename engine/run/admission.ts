import { costOf, type ModelFacts } from '../models/index.ts'
import { noUsage } from '../core/usage.ts'

/** Whether a request may be made. */
export type Admission =
  | {
      readonly admitted: true
      /** How many tokens the answer may have; undefined for the model's maximum. */
      readonly limit: number | undefined
      /** Whether that is less than the model's maximum. */
      readonly isLowered: boolean
      /** Releases the reserved amount. To be called once the response is over and counted. */
      readonly release: () => void
    }
  | { readonly admitted: false; readonly message: string }

/** The remaining budget. An absent limit means no limit. */
type Left = {
  readonly tokens: number | undefined
  /** US dollars. */
  readonly cost: number | undefined
}

/** The most that a request could use. */
export type WorstCase = {
  /** Tokens of the request and of the answer. */
  readonly input: number
  readonly output: number
  /** In US dollars; 0 if costs aren't counted. */
  readonly cost: number
}

/** If fewer tokens than this are left for the answer, the request is not worth its price. */
const leastAnswer = 2048
/** The assumed maximum of an unknown model's answer: small servers refuse requests with a higher limit. */
const assumedLongest = 8192

/**
 * The most that a request could use: all of it sent uncached, and the longest answer that fits.
 *
 * @param input how many tokens the request has
 * @returns the worst case; if `fits` is false, it is the smallest possible one, and exceeds the remaining budget
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
  const costs = (output: number): number => {
    if (price === undefined || left.cost === undefined) return 0
    const { input: plain, cacheWrite } = price
    const written = cacheWrite > plain ? input : 0
    return costOf({ ...noUsage, inputTokens: input, cacheWriteInputTokens: written, outputTokens: output }, price)
  }
  const use = (output: number): WorstCase => ({ input, output, cost: costs(output) })
  const isWithin = ({ output, cost }: WorstCase): boolean =>
    input + output <= (left.tokens ?? Infinity) && cost <= (left.cost ?? Infinity)
  if (!isWithin(use(least))) return { fits: false, use: use(least), limit: undefined, isLowered: false }
  const whole = use(longest)
  if (isWithin(whole)) {
    return { fits: true, use: whole, limit: longestOutput === undefined ? longest : undefined, isLowered: false }
  }
  const perToken = costs(1) - costs(0)
  const byCost = left.cost === undefined || perToken <= 0 ? Infinity : Math.floor((left.cost - costs(0)) / perToken)
  const byTokens = left.tokens === undefined ? Infinity : left.tokens - input
  const output = Math.max(least, Math.min(byCost, byTokens))
  return { fits: true, use: use(output), limit: output, isLowered: true }
}
