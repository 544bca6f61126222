import { describe, expect, test } from 'vitest'
import { costOf, modelFacts, newestOf } from '../../../engine/models/index.ts'
import { noUsage } from '../../../engine/core/usage.ts'

describe('what is known of a model', () => {
  test.each([
    ['gpt-5.5', {}, 5],
    ['openai/gpt-5.5', {}, 5],
    ['gpt-5.4-2026-03-05', {}, 2.5],
    ['claude-sonnet-4-5-20250929', {}, 3],
    ['anthropic/claude-opus-5', { provider: 'openai' }, 5],
    ['replay:demo.jsonl', {}, 0],
    ['gpt-5.5', { provider: 'gateway' }, undefined],
    ['gateway/gpt-5.5', {}, undefined],
    ['gpt-5.5-turbo', {}, undefined],
    ['gpt-6.1-sol', {}, 2],
    ['gpt-6.4-sol-2027-01-01', {}, 2],
    ['claude-opus-7', {}, 4],
    ['gateway/gpt-6.4-sol', {}, undefined],
    ['constructor', {}, undefined],
    ['gpt-5.5', { prices: { 'gpt-5.5': { input: 7, output: 8 } } }, 7],
    ['ollama/qwen3', { prices: { 'ollama/qwen3': { input: 0, output: 0 } } }, 0],
  ])('%s with %j costs %s per million tokens', (name, configured, input) => {
    expect(modelFacts(name, configured).price?.input).toBe(input)
  })

  test('a model that is not listed yet counts as the newest of its family, and the facts say so', () => {
    expect(modelFacts('gpt-6.4-astra', {})).toMatchObject({ takenFrom: 'gpt-6.2-astra', contextWindow: 1_050_000 })
    expect(modelFacts('claude-sonnet-6', {})).toMatchObject({ takenFrom: 'claude-sonnet-5-5' })
    expect(modelFacts('gpt-6.2-astra', {})).not.toHaveProperty('takenFrom')
    const prices = { 'gpt-6.4-astra': { input: 1, output: 2 } }
    expect(modelFacts('gpt-6.4-astra', { prices, contextWindow: 9000 })).not.toHaveProperty('takenFrom')
  })

  test('the configured window wins over the listed one', () => {
    expect(modelFacts('gpt-4o', {}).contextWindow).toBe(128_000)
    expect(modelFacts('gpt-4o', { contextWindow: 9000 }).contextWindow).toBe(9000)
    expect(modelFacts('llama', { contextWindow: 9000 }).contextWindow).toBe(9000)
  })
})

describe('a cost', () => {
  const price = { input: 1, cachedInput: 0.1, cacheWrite: 2, output: 10, webSearch: 10 }
  const usage = { ...noUsage, inputTokens: 1000, cachedInputTokens: 500, cacheWriteInputTokens: 100, outputTokens: 10 }

  test('bills each kind of token at its own price', () => {
    expect(costOf(usage, price)).toBe(400 + 50 + 200 + 100)
  })

  test('is a whole number of millionths of a dollar, rounded up', () => {
    const cheap = { ...price, input: 0.05, output: 0.4 }
    expect(costOf({ ...noUsage, inputTokens: 1 }, cheap)).toBe(1)
    expect(costOf({ ...noUsage, inputTokens: 30, outputTokens: 3 }, { ...cheap, input: 0.1, output: 1 })).toBe(6)
    expect(costOf(noUsage, cheap)).toBe(0)
  })

  test('bills web searches by their number', () => {
    expect(costOf({ ...noUsage, webSearches: 3 }, price)).toBe(30_000)
  })

  test('bills a whole long prompt at the prices for long ones', () => {
    const longPrompt = { above: 999, input: 2, cachedInput: 2, cacheWrite: 2, output: 2 }
    expect(costOf(usage, { ...price, longPrompt })).toBe(2 * 1010)
    expect(costOf({ ...usage, inputTokens: 999 }, { ...price, longPrompt })).toBeLessThan(800)
  })
})

test.each([
  ['haiku', 'claude-haiku-5-5'],
  ['sonnet', 'claude-sonnet-5-5'],
  ['opus', 'claude-opus-5-5'],
  ['inherit', undefined],
  ['claude-opus-4-8', undefined],
])('%s means the model %s', (alias, model) => {
  expect(newestOf(alias)).toBe(model)
})
