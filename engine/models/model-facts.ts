import * as z from 'zod'
import type { Usage } from '../model.ts'
import { knownModels, usualWebSearch, type KnownModel, type Price, type Rates } from './known-models.ts'

const dollars = z.number().min(0)

/** One table `model_prices.<name>` of the configuration: US dollars for a million tokens. */
export const modelPriceSchema = z.strictObject({
  input: dollars,
  /** Default: as `input`. */
  cached_input: dollars.optional(),
  /** Default: as `input`. */
  cache_write: dollars.optional(),
  output: dollars,
  /** For a thousand searches of the web by the provider. Default: 10. */
  web_search: dollars.optional(),
})

/** What is known of a model: as configured, else as listed for its maker's own API. */
export type ModelFacts = {
  /** Undefined where nobody has said what it costs. */
  readonly price: Price | undefined
  /** In tokens, what it is sent and what it says together. Undefined where nobody has said. */
  readonly contextWindow: number | undefined
  /** In tokens, of one answer. Undefined where nobody has said. */
  readonly longestOutput: number | undefined
}

/** What a configuration says of models. */
export type ConfiguredFacts = {
  /** `model_provider`: whose models names without a provider are. Absent: the name shows its maker. */
  readonly provider?: string | undefined
  /** `model_prices`, by name as it is given to `-m`. */
  readonly prices?: Readonly<Record<string, z.infer<typeof modelPriceSchema>>> | undefined
  /** `model_context_window`, for whichever model answers. */
  readonly contextWindow?: number | undefined
  /** `model_max_output_tokens`, likewise. */
  readonly longestOutput?: number | undefined
}

/**
 * What is known of a model. A recording costs nothing.
 *
 * @param name as given to `-m`
 */
export function modelFacts(name: string, configured: ConfiguredFacts): ModelFacts {
  const known = knownModel(name, configured.provider)
  return {
    price: configuredPrice(name, configured) ?? (name.startsWith('replay:') ? free : known?.price),
    contextWindow: configured.contextWindow ?? known?.contextWindow,
    longestOutput: configured.longestOutput ?? known?.longestOutput,
  }
}

const free: Price = { input: 0, cachedInput: 0, cacheWrite: 0, output: 0, webSearch: 0 }

function configuredPrice(name: string, { prices = {} }: ConfiguredFacts): Price | undefined {
  const own = Object.hasOwn(prices, name) ? prices[name] : undefined
  if (own === undefined) return undefined
  const { input, output, cached_input: cachedInput = input, cache_write: cacheWrite = input } = own
  return { input, cachedInput, cacheWrite, output, webSearch: own.web_search ?? usualWebSearch }
}

/** What a response cost, in US dollars. */
export function costOf(usage: Usage, price: Price): number {
  const rates: Rates =
    price.longPrompt !== undefined && usage.inputTokens > price.longPrompt.above ? price.longPrompt : price
  const plain = Math.max(0, usage.inputTokens - usage.cachedInputTokens - usage.cacheWriteInputTokens)
  const millionths =
    plain * rates.input +
    usage.cachedInputTokens * rates.cachedInput +
    usage.cacheWriteInputTokens * rates.cacheWrite +
    usage.outputTokens * rates.output
  return millionths / 1_000_000 + ((usage.webSearches ?? 0) * price.webSearch) / 1000
}

/** Providers that bill by their own list. Another one's `gpt-5.5` is billed by that one. */
const makers = ['openai', 'anthropic']

/** What is listed for a model of OpenAI or Anthropic, also under a dated name such as `gpt-5.4-2026-03-05`. */
function knownModel(name: string, provider: string | undefined): KnownModel | undefined {
  const [, maker = provider, bare = ''] = /^(?:([^/]+)\/)?(.*)$/s.exec(name) ?? []
  if (maker !== undefined && !makers.includes(maker)) return undefined
  const undated = bare.replace(/(?:-\d{4}-\d{2}-\d{2}|[-@]\d{8}|-latest)$/, '')
  return Object.hasOwn(knownModels, undated) ? knownModels[undated] : undefined
}
