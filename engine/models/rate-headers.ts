import type { RateLimits } from '../core/request-gate.ts'

/**
 * Reads the rate limits from a response's headers: OpenAI's `x-ratelimit-limit-*` (https://platform.openai.com/docs/guides/rate-limits) and
 * Anthropic's `anthropic-ratelimit-*-limit` (https://docs.claude.com/en/api/rate-limits), both per minute. Returns undefined if the headers contain
 * no limits.
 */
export function rateLimitsIn(header: (name: string) => string | null): RateLimits | undefined {
  const requests = count(header('x-ratelimit-limit-requests')) ?? count(header('anthropic-ratelimit-requests-limit'))
  const tokens = count(header('x-ratelimit-limit-tokens')) ?? count(header('anthropic-ratelimit-tokens-limit'))
  return requests === undefined && tokens === undefined ? undefined : { requests, tokens }
}

function count(value: string | null): number | undefined {
  return value !== null && /^[1-9]\d{0,11}$/.test(value) ? Number(value) : undefined
}
