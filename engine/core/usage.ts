import type { Usage } from './model.ts'
import { sumDollars } from './money.ts'

/** A usage in which every count is zero. */
export const noUsage: Usage = {
  inputTokens: 0,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 0,
  reasoningOutputTokens: 0,
}

/** Adds two usages. */
export function sumUsage(one: Usage, other: Usage): Usage {
  const webSearches = (one.webSearches ?? 0) + (other.webSearches ?? 0)
  return {
    inputTokens: one.inputTokens + other.inputTokens,
    cachedInputTokens: one.cachedInputTokens + other.cachedInputTokens,
    cacheWriteInputTokens: one.cacheWriteInputTokens + other.cacheWriteInputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
    reasoningOutputTokens: one.reasoningOutputTokens + other.reasoningOutputTokens,
    ...(webSearches === 0 ? {} : { webSearches }),
  }
}

/** Adds two amounts of US dollars, exactly to the millionth; undefined if one of them is not known. */
export function sumCost(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : sumDollars([one, other])
}
