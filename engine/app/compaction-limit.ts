import type { Settings } from '../config/settings-schema.ts'
import { modelFacts, type ModelFacts } from '../models/index.ts'
import { UserError } from '../core/user-error.ts'

const defaultCompactAt = 0.8

/**
 * How many tokens a request may have before the conversation is compacted. Without configuration, it is 0.8 of the context window, or the size beyond
 * which the model's price rises, whichever is smaller. Undefined if the limit isn't configured and the window is unknown.
 */
export function compactionLimit({ contextWindow, price }: ModelFacts, config: Settings): number | undefined {
  const { model_auto_compact_token_limit: limit, compact_at: share } = config
  if (limit !== undefined) return limit
  if (contextWindow === undefined) return undefined
  if (share !== undefined) return Math.floor(contextWindow * share)
  return Math.min(Math.floor(contextWindow * defaultCompactAt), price?.longPrompt?.above ?? Infinity)
}

/**
 * Returns a function that gives the facts about a model by its name.
 *
 * @param maxCost the limit in US dollars; undefined: no limit
 * @param first the model that is asked first
 * @param others other models that may be asked
 * @throws UserError `usage` if `--max-cost` can't be enforced because a model's price is unknown
 */
export function factsOfModels(
  maxCost: number | undefined,
  config: Settings,
  first: string,
  others: readonly string[],
): (name: string) => ModelFacts {
  const configured = {
    provider: config.model_provider,
    prices: config.model_prices,
    contextWindow: config.model_context_window,
    longestOutput: config.model_max_output_tokens,
  }
  const factsOf = (name: string): ModelFacts => modelFacts(name, configured)
  if (maxCost === undefined) return factsOf
  const unpriced = [first, ...others, ...(config.fallback_models ?? [])].find(
    (name) => factsOf(name).price === undefined,
  )
  if (unpriced === undefined) return factsOf
  throw new UserError(
    'usage',
    `--max-cost: the price of '${unpriced}' is not known. Give it in US dollars per million tokens, ` +
      `with -c 'model_prices={"${unpriced}"={input=2.5,output=15}}' or as a table [model_prices."${unpriced}"] ` +
      'of the configuration (cached_input and cache_write may be given too).',
  )
}
