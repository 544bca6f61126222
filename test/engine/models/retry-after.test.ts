import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { backoff, respondWithRetries } from '../../../engine/models/retry.ts'
import { waitAsked } from '../../../engine/models/retry-after.ts'

const now = Date.parse('2026-01-01T00:00:00Z')

describe('the wait a provider asks for', () => {
  test.each([
    [{ 'retry-after': '3' }, '', 3000],
    [{ 'retry-after': '0.5' }, '', 500],
    [{ 'retry-after-ms': '20', 'retry-after': '3' }, '', 20],
    [{ 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' }, '', 10_000],
    [{ 'retry-after': 'Wed, 31 Dec 2025 23:00:00 GMT' }, '', 0],
    [{ 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '6m0s' }, '', 360_000],
    [{ 'x-ratelimit-remaining-tokens': '0', 'x-ratelimit-reset-tokens': '20ms' }, '', 20],
    [{ 'x-ratelimit-remaining-requests': '9', 'x-ratelimit-reset-requests': '6m0s' }, '', undefined],
    [
      { 'anthropic-ratelimit-tokens-remaining': '0', 'anthropic-ratelimit-tokens-reset': '2026-01-01T00:00:07Z' },
      '',
      7000,
    ],
    [{}, 'Rate limit reached. Please try again in 1.25s.', 1250],
    [{}, 'Please try again in 1m2s.', 62_000],
    [{}, 'Please try again later.', undefined],
    [{ 'retry-after': 'soon' }, '', undefined],
    [{ 'retry-after': '-5' }, '', undefined],
  ] as const)('%j %s → %s', (headers, words, wait) => {
    const values: Readonly<Record<string, string>> = headers
    expect(waitAsked((name) => values[name] ?? null, words, now)).toBe(wait)
  })

  test('whatever the header says, the result is a wait or undefined', () => {
    fc.assert(
      fc.property(fc.string(), (value) => {
        const wait = waitAsked((name) => (name.startsWith('retry') ? value : null), value, now)
        expect(wait === undefined || (wait >= 0 && !Number.isNaN(wait))).toBe(true)
      }),
    )
  })
})

test('our own waits double, vary by half, and stay below 30 s', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2000 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, random) => {
      const whole = Math.min(30_000, 500 * 2 ** (failures - 1))
      const wait = backoff(failures, 500, random)
      expect(wait).toBeGreaterThanOrEqual(whole / 2)
      expect(wait).toBeLessThanOrEqual(whole)
    }),
  )
})

test('the first retry of a broken stream comes sooner than that of a refused request, and the waits double', async () => {
  const provider = { label: 'OpenAI', secrets: [], baseUrl: 'http://127.0.0.1', keyFrom: undefined }
  const limits = { maxRetries: 5, retryBaseMs: 500, retryBudgetMs: 60_000, connectTimeoutMs: 1, streamIdleTimeoutMs: 1 }
  // A stream without an end is broken.
  const broken = respondWithRetries(provider, async function* () {}, limits, new AbortController().signal)
  const waits: number[] = []
  for await (const event of broken) {
    if (event.type === 'retry') waits.push(event.waitMs)
    if (waits.length === 3) break
  }
  for (const [retry, wait] of waits.entries()) {
    expect(wait).toBeGreaterThanOrEqual(100 * 2 ** retry)
    expect(wait).toBeLessThanOrEqual(200 * 2 ** retry)
  }
})
