import * as z from 'zod'
import type { Usage } from '../core/model.ts'
import { microsAtLeast, type Micros } from '../core/money.ts'
import { knownModels, usualWebSearch, type Price, type Rates } from './known-models.ts'

// No token costs more than a dollar. A limit keeps all costs finite.
const dollars = z.number().min(0).max(1_000_000)

/** A table `model_prices.<name>` of the configuration: a model's prices in US dollars per million tokens. */
export const modelPriceSchema = z.strictObject({
  input: dollars,
  /** The price of input that comes from the provider's prompt cache. Default: the same as `input`. */
  cached_input: dollars.optional(),
  /** The price of input that is written to the provider's prompt cache. Default: the same as `input`. */
  cache_write: dollars.optional(),
  output: dollars,
  /** The price of a thousand web searches by the provider, in US dollars. Default: 10. */
  web_search: dollars.optional(),
})

/** The facts about a model: the configured values, or else the values listed for its maker's own API. */
export type ModelFacts = {
  /** The model's prices; undefined if they are unknown. */
  readonly price: Price | undefined
  /** The context window in tokens, counting input and output together. Undefined if it is unknown. */
  readonly contextWindow: number | undefined
  /** The maximum number of tokens in one answer. Undefined if it is unknown. */
  readonly longestOutput: number | undefined
  /**
   * The model of the same family whose price and window are used, because this model is not listed. Absent: the values are the model's own.
   */
  readonly takenFrom?: string
}

/** The configured facts about models. */
export type ConfiguredFacts = {
  /** `model_provider`: the provider of models whose names don't include one. If absent, the provider is the maker that the model's name shows. */
  readonly provider?: string | undefined
  /** `model_prices`, by the value of `-m`. */
  readonly prices?: Readonly<Record<string, z.infer<typeof modelPriceSchema>>> | undefined
  /** `model_context_window`, which applies to every model. */
  readonly contextWindow?: number | undefined
  /** `model_max_output_tokens`, which applies to every model. */
  readonly longestOutput?: number | undefined
}

/**
 * Returns the facts about a model. The price of a recorded conversation is 0.
 *
 * @param name the value of `-m`
 */
export function modelFacts(name: string, configured: ConfiguredFacts): ModelFacts {
  const listed = listedName(name, configured.provider)
  const known = listed === undefined ? undefined : knownModels[listed.name]
  const price = configuredPrice(name, configured)
  const isTaken = listed?.isOwn === false && (price === undefined || configured.contextWindow === undefined)
  return {
    price: price ?? (name.startsWith('replay:') ? free : known?.price),
    contextWindow: configured.contextWindow ?? known?.contextWindow,
    longestOutput: configured.longestOutput ?? known?.longestOutput,
    ...(isTaken ? { takenFrom: listed.name } : {}),
  }
}

const free: Price = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, webSearch: 0 }

function configuredPrice(name: string, { prices = {} }: ConfiguredFacts): Price | undefined {
  const own = Object.hasOwn(prices, name) ? prices[name] : undefined
  if (own === undefined) return undefined
  const { input, output, cached_input: cachedInput = input, cache_write: cacheWrite = input } = own
  return { input, cachedInput, cacheWrite, output, webSearch: own.web_search ?? usualWebSearch }
}

/** Returns what a response cost, rounded up to a whole number of millionths of a US dollar. */
export function costOf(usage: Usage, price: Price): Micros {
  return microsAtLeast(millionthsOf(usage, price))
}

/** Returns what a response cost in millionths of a US dollar, not rounded. */
export function millionthsOf(usage: Usage, price: Price): number {
  const rates: Rates =
    price.longPrompt !== undefined && usage.inputTokens > price.longPrompt.above ? price.longPrompt : price
  const plain = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteInputTokens)
  return (
    plain * rates.input +
    usage.cachedInputTokens * rates.cachedInput +
    usage.cacheWriteInputTokens * rates.cacheWrite +
    usage.outputTokens * rates.output +
    (usage.webSearches ?? 0) * price.webSearch * 1000
  )
}

/** The providers whose price lists are known. If a different provider offers `gpt-5.5`, that provider's own prices apply. */
const makers = ['openai', 'anthropic']

/**
 * Returns the name under which a model of OpenAI or Anthropic is listed. A date or `latest` at the end of the name, as in `gpt-5.4-2026-03-05`, is
 * ignored. If the model isn't listed, the name of the newest listed model of its family is returned, with `isOwn: false`. For example, the newest
 * listed Opus stands in for `claude-opus-7`.
 */
function listedName(
  name: string,
  provider: string | undefined,
): { readonly name: string; readonly isOwn: boolean } | undefined {
  const [, maker = provider, bare = ''] = /^(?:([^/]+)\/)?(.*)$/s.exec(name) ?? []
  if (maker !== undefined && !makers.includes(maker)) return undefined
  const undated = bare.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, '')
  if (Object.hasOwn(knownModels, undated)) return { name: undated, isOwn: true }
  const family = familyOf(undated)
  if (family === undefined) return undefined
  // The newest model is listed first.
  const kin = Object.keys(knownModels).find((known) => familyOf(known) === family)
  return kin === undefined ? undefined : { name: kin, isOwn: false }
}

/** Returns the family of a GPT or Claude model: its name without the generation. Undefined for any name of another form. */
function familyOf(name: string): string | undefined {
  const [, kind] = /^gpt-\d+(?:\.\d+)?-([a-z]+(?:-[a-z]+)*)$/.exec(name) ?? []
  if (kind !== undefined) return `gpt-${kind}`
  const [, tier] = /^claude-([a-z]+)-\d+(?:-\d{1,2})?$/.exec(name) ?? []
  if (tier !== undefined) return `claude-${tier}`
  return /^gpt-\d+(?:\.\d+)?$/.test(name) ? 'gpt' : undefined
}

/**
 * Returns the newest model of a Claude family for the family's bare name (such as `haiku`, `sonnet` or `opus`), as used in Claude Code's agent definitions.
 * Undefined for any other name.
 */
export function newestOf(alias: string): string | undefined {
  return claudeTiers.includes(alias)
    ? Object.keys(knownModels).find((known) => familyOf(known) === `claude-${alias}`)
    : undefined
}

const claudeTiers: readonly string[] = ['haiku', 'sonnet', 'opus', 'fable']
