type Header = (name: string) => string | null

/**
 * Returns how long a provider that refused a request asks us to wait, in milliseconds; undefined if it doesn't say.
 *
 * Reads in this order: `retry-after-ms`, `retry-after` (seconds or an HTTP date, RFC 9110 §10.2.3), the reset times of exhausted OpenAI
 * limits (`x-ratelimit-reset-requests: 6m0s`) and of exhausted Anthropic limits (RFC 3339), and finally "try again in 1.5s" in the error
 * message.
 */
export function waitAsked(header: Header, words: string, now: number): number | undefined {
  return (
    milliseconds(header('retry-after-ms')) ??
    secondsOrDate(header('retry-after'), now) ??
    longest([
      ...['requests', 'tokens'].map((what) =>
        exhausted(header, `x-ratelimit-remaining-${what}`, () => duration(header(`x-ratelimit-reset-${what}`))),
      ),
      ...['requests', 'tokens', 'input-tokens', 'output-tokens'].map((what) =>
        exhausted(header, `anthropic-ratelimit-${what}-remaining`, () =>
          until(header(`anthropic-ratelimit-${what}-reset`), now),
        ),
      ),
    ]) ??
    duration(/try again in ((?:[\d.]+(?:ms|[dhms]))+)/i.exec(words)?.[1] ?? null)
  )
}

function milliseconds(value: string | null): number | undefined {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}

function secondsOrDate(value: string | null, now: number): number | undefined {
  const seconds = milliseconds(value)
  return seconds === undefined ? until(value, now) : seconds * 1000
}

function until(date: string | null, now: number): number | undefined {
  // `Date.parse` alone would accept "-5" as a date.
  const at = date !== null && /^(?:[A-Z][a-z]+,|\d{4}-)/.test(date) ? Date.parse(date) : Number.NaN
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

function exhausted(header: Header, remaining: string, reset: () => number | undefined): number | undefined {
  return header(remaining) === '0' ? reset() : undefined
}

function longest(waits: readonly (number | undefined)[]): number | undefined {
  const known = waits.filter((wait) => wait !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Parses a duration in the format in which Go prints it, such as `1h2m3.5s` or `20ms`. */
function duration(value: string | null): number | undefined {
  if (value === null || !/^(?:\d+(?:\.\d+)?(?:ms|[dhms]))+$/.test(value)) return undefined
  const parts = [...value.matchAll(/(\d+(?:\.\d+)?)(ms|[dhms])/g)]
  return parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (unitMs[unit ?? ''] ?? 0), 0)
}
