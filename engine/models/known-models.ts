/** Prices in US dollars per million tokens. */
export type Rates = {
  readonly input: number
  /** The rate for the part of the input that came from the provider's prompt cache. */
  readonly cachedInput: number
  /** The rate for the part of the input that was written to the provider's prompt cache. */
  readonly cacheWrite: number
  readonly output: number
}

/** What a model costs. If a prompt has more than `longPrompt.above` tokens, the whole request is billed at the rates in `longPrompt`. */
export type Price = Rates & {
  readonly longPrompt?: Rates & { readonly above: number }
  /** The price of a thousand web searches by the provider, in US dollars. The results of a search are also billed as input. */
  readonly webSearch: number
}

/** What OpenAI and Anthropic both charge for a thousand web searches, in US dollars. */
export const usualWebSearch = 10

/** The built-in facts about a model. */
type KnownModel = {
  /** The model's context window in tokens, counting input and output together. */
  readonly contextWindow: number
  /** The maximum number of tokens in one answer, including thoughts; for Claude, the number that we request. */
  readonly longestOutput: number
  readonly price: Price
}

const million = 1_000_000

/** Creates a price as OpenAI lists it. Unless `cacheWrite` is given, a write to the prompt cache costs as much as other input. */
function openai(input: number, cachedInput: number, output: number, cacheWrite = input): Price {
  return { input, cachedInput, cacheWrite, output, webSearch: usualWebSearch }
}

function doubledBeyond(above: number, price: Price): Price {
  const { input, cachedInput, cacheWrite, output } = price
  const longPrompt = {
    above,
    input: input * 2,
    cachedInput: cachedInput * 2,
    cacheWrite: cacheWrite * 2,
    output: output * 1.5,
  }
  return { ...price, longPrompt }
}

/** Creates the entry for a model of GPT-6 or later. All these models have the same context window, and their cache writes cost 1.25 times the input price. */
function gpt6(input: number, cachedInput: number, output: number): KnownModel {
  const price = doubledBeyond(272_000, openai(input, cachedInput, output, input * 1.25))
  return { contextWindow: 1_050_000, longestOutput: 128_000, price }
}

/**
 * Creates a price as Anthropic lists it. A write to the five-minute cache costs 1.25 times as much as other input and, unless `cachedInput` is given, a read
 * costs a tenth.
 */
function anthropic(input: number, output: number, cachedInput = input / 10): Price {
  return { input, cachedInput, cacheWrite: input * 1.25, output, webSearch: usualWebSearch }
}

/**
 * Models by their names in their makers' APIs. The prices are the list prices of these APIs in November 2026, without batch, priority or promotion
 * rates. `model_prices` and `model_context_window` in the configuration override them.
 *
 * https://developers.openai.com/api/docs/pricing and https://platform.claude.com/docs/en/about-claude/pricing
 */
export const knownModels: Readonly<Record<string, KnownModel>> = {
  'gpt-6.2-astra': gpt6(8, 0.4, 40),
  'gpt-6.2-sol': gpt6(2, 0.1, 10),
  'gpt-6.1-sol': gpt6(2, 0.1, 10),
  'gpt-6.1-terra': gpt6(1, 0.05, 5),
  'gpt-6-astra': gpt6(10, 1, 50),
  'gpt-6-sol': gpt6(2, 0.2, 10),
  'gpt-6-luna': gpt6(0.1, 0.01, 0.5),
  'gpt-5.6': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(5, 0.5, 30, 6.25)),
  },
  'gpt-5.6-sol': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(5, 0.5, 30, 6.25)),
  },
  'gpt-5.6-terra': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(2.5, 0.25, 15, 3.125)),
  },
  'gpt-5.6-luna': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(1, 0.1, 6, 1.25)),
  },
  'gpt-5.5': { contextWindow: 1_050_000, longestOutput: 128_000, price: doubledBeyond(272_000, openai(5, 0.5, 30)) },
  'gpt-5.5-pro': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(30, 30, 180)),
  },
  'gpt-5.4': { contextWindow: 1_050_000, longestOutput: 128_000, price: doubledBeyond(272_000, openai(2.5, 0.25, 15)) },
  'gpt-5.4-pro': {
    contextWindow: 1_050_000,
    longestOutput: 128_000,
    price: doubledBeyond(272_000, openai(30, 30, 180)),
  },
  'gpt-5.4-mini': { contextWindow: 400_000, longestOutput: 128_000, price: openai(0.75, 0.075, 4.5) },
  'gpt-5.4-nano': { contextWindow: 400_000, longestOutput: 128_000, price: openai(0.2, 0.02, 1.25) },
  'gpt-5.3-codex': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.75, 0.175, 14) },
  'gpt-5.2': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.75, 0.175, 14) },
  'gpt-5.2-codex': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.75, 0.175, 14) },
  'gpt-5.1': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.25, 0.125, 10) },
  'gpt-5.1-codex': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.25, 0.125, 10) },
  'gpt-5': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.25, 0.125, 10) },
  'gpt-5-codex': { contextWindow: 400_000, longestOutput: 128_000, price: openai(1.25, 0.125, 10) },
  'gpt-5-mini': { contextWindow: 400_000, longestOutput: 128_000, price: openai(0.25, 0.025, 2) },
  'gpt-5-nano': { contextWindow: 400_000, longestOutput: 128_000, price: openai(0.05, 0.005, 0.4) },
  'gpt-4.1': { contextWindow: 1_047_576, longestOutput: 32_768, price: openai(2, 0.5, 8) },
  'gpt-4.1-mini': { contextWindow: 1_047_576, longestOutput: 32_768, price: openai(0.4, 0.1, 1.6) },
  'gpt-4o': { contextWindow: 128_000, longestOutput: 16_384, price: openai(2.5, 1.25, 10) },
  'gpt-4o-mini': { contextWindow: 128_000, longestOutput: 16_384, price: openai(0.15, 0.075, 0.6) },
  o3: { contextWindow: 200_000, longestOutput: 100_000, price: openai(2, 0.5, 8) },
  'o4-mini': { contextWindow: 200_000, longestOutput: 100_000, price: openai(1.1, 0.275, 4.4) },
  'claude-fable-5-1': { contextWindow: million, longestOutput: 64_000, price: anthropic(10, 50, 0.25) },
  'claude-fable-5': { contextWindow: million, longestOutput: 64_000, price: anthropic(10, 50) },
  'claude-opus-5-5': { contextWindow: million, longestOutput: 64_000, price: anthropic(4, 20, 0.2) },
  'claude-opus-5': { contextWindow: million, longestOutput: 64_000, price: anthropic(5, 25) },
  'claude-opus-4-8': { contextWindow: million, longestOutput: 64_000, price: anthropic(5, 25) },
  'claude-opus-4-7': { contextWindow: million, longestOutput: 64_000, price: anthropic(5, 25) },
  'claude-opus-4-6': { contextWindow: million, longestOutput: 64_000, price: anthropic(5, 25) },
  'claude-opus-4-5': { contextWindow: 200_000, longestOutput: 64_000, price: anthropic(5, 25) },
  'claude-opus-4-1': { contextWindow: 200_000, longestOutput: 32_000, price: anthropic(15, 75) },
  'claude-sonnet-5-5': { contextWindow: million, longestOutput: 64_000, price: anthropic(2, 10, 0.1) },
  'claude-sonnet-5': { contextWindow: million, longestOutput: 64_000, price: anthropic(2, 10) },
  'claude-sonnet-4-6': { contextWindow: million, longestOutput: 64_000, price: anthropic(3, 15) },
  'claude-sonnet-4-5': { contextWindow: 200_000, longestOutput: 64_000, price: anthropic(3, 15) },
  'claude-haiku-5-5': {
    contextWindow: million,
    longestOutput: 64_000,
    price: { ...anthropic(0.1, 0.5), longPrompt: { above: 100_000, ...anthropic(0.5, 2.5) } },
  },
  'claude-haiku-4-5': { contextWindow: 200_000, longestOutput: 64_000, price: anthropic(1, 5) },
}

/** The names of the models whose facts are built in. */
export const modelNames: readonly string[] = Object.keys(knownModels)
