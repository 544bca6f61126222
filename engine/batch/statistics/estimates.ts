/** A share or a mean, with the bounds of its 95% confidence interval. */
export type Estimate = { readonly value: number; readonly low: number; readonly high: number }

/** The quantile of the normal distribution for a 95% interval. */
const z = 1.959963984540054

/**
 * The share of successful trials, with Wilson's score interval, which stays between 0 and 1 and is valid even for few trials.
 * Source: E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 22 (1927); compared with other intervals in
 * R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998), method 3.
 *
 * @returns undefined if there are no trials
 */
export function wilsonInterval(successes: number, trials: number): Estimate | undefined {
  if (trials === 0) return undefined
  const value = successes / trials
  const scale = 1 + z ** 2 / trials
  const centre = (value + z ** 2 / (2 * trials)) / scale
  const half = (z / scale) * Math.sqrt((value * (1 - value)) / trials + z ** 2 / (4 * trials ** 2))
  // If all trials succeed, the upper bound is exactly 1; if none do, the lower bound is exactly 0. These bounds are set directly, because rounding
  // would leave a small error.
  const low = successes === 0 ? 0 : Math.max(0, centre - half)
  const high = successes === trials ? 1 : Math.min(1, centre + half)
  return { value, low, high }
}

/**
 * The probability that at least one of `k` tries solves a task: an unbiased estimate from n tries of which c solved it, 1 − C(n−c, k) / C(n, k).
 * Source: M. Chen et al., "Evaluating large language models trained on code", arXiv 2107.03374 (2021), section 2.1.
 *
 * @returns undefined if there are fewer tries than `k`, or if `k` is less than 1
 */
export function passAtK(tries: number, solved: number, k: number): number | undefined {
  if (tries < k || k < 1) return undefined
  if (tries - solved < k) return 1
  let none = 1
  for (let at = tries - solved + 1; at <= tries; at++) none *= 1 - k / at
  return 1 - none
}

/**
 * The mean of values, with a 95% confidence interval that is computed from the standard error and the normal distribution.
 * Source for differences between two models, paired by task: E. Miller, "Adding error bars to evals", arXiv 2411.00640 (2024), section 4.2.
 *
 * @returns undefined if there are no values. The spread of a single value is unknown, so its interval reaches from `bounds.least` to `bounds.most`
 */
export function meanInterval(
  values: readonly number[],
  bounds: { readonly least: number; readonly most: number },
): Estimate | undefined {
  if (values.length === 0) return undefined
  const value = values.reduce((sum, each) => sum + each, 0) / values.length
  if (values.length === 1) return { value, low: bounds.least, high: bounds.most }
  const variance = values.reduce((sum, each) => sum + (each - value) ** 2, 0) / (values.length - 1)
  const half = z * Math.sqrt(variance / values.length)
  return { value, low: Math.max(bounds.least, value - half), high: Math.min(bounds.most, value + half) }
}

/**
 * The p-value of the exact two-sided sign test: the probability that wins and losses are at least as uneven as observed if two models are equally
 * good. With one try for each task, the test is McNemar's exact test. Source: Q. McNemar, "Note on the sampling error of the difference between
 * correlated proportions", Psychometrika 12 (1947); the exact form uses the binomial distribution with 1/2.
 */
export function signTest(wins: number, losses: number): number {
  const count = wins + losses
  if (count === 0) return 1
  // The sum is computed with logarithms, because the binomial coefficients for a thousand tasks are too large for a JavaScript number.
  let [term, tail] = [-count * Math.LN2, 0]
  for (let at = 0; at <= Math.min(wins, losses); at++) {
    tail += Math.exp(term)
    term += Math.log(count - at) - Math.log(at + 1)
  }
  return Math.min(1, 2 * tail)
}
