import { setTimeout as sleep } from 'node:timers/promises'
import { ModelError } from '../core/model.ts'
import type { Endpoint } from './endpoint.ts'
import { cutStream, ProviderFailure } from './failure.ts'
import type { Limits } from './model-options.ts'
import type { WireEvent } from './wire.ts'
import { counted } from '../core/text/counted.ts'

/** The longest wait that this program chooses itself, in milliseconds. A provider may ask for a longer one. */
const longestBackoffMs = 30_000

/** The wait before the first retry of a broken stream, in milliseconds, as in Codex: its server was there just now. */
const brokenStreamBaseMs = 200

/**
 * Yields the events of a response, and repeats the request after a failure that may be temporary. Each retry is announced by a `retry` event: the
 * events before it no longer count. `ask` makes one attempt, and throws `ProviderFailure` if the attempt fails. If its stream ends without an `end`
 * event, the stream was interrupted.
 *
 * Throws `ModelError` 'provider' if a retry is pointless, the retries are used up, or all waits together would exceed `retryBudgetMs`. Throws the signal's
 * reason as soon as the signal aborts, even during a wait.
 */
export async function* respondWithRetries(
  provider: Pick<Endpoint, 'label' | 'secrets' | 'baseUrl' | 'keyFrom'>,
  ask: () => AsyncIterable<WireEvent>,
  limits: Limits,
  signal: AbortSignal,
): AsyncGenerator<WireEvent> {
  let waited = 0
  let rare = 0
  for (let failures = 0; ;) {
    signal.throwIfAborted()
    try {
      for await (const event of ask()) {
        // An aborted stream simply ends, so it may look complete.
        signal.throwIfAborted()
        yield event
        if (event.type === 'end') return
      }
      throw cutStream('')
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof ProviderFailure)) throw error
      failures++
      if (error.rare !== undefined) rare++
      const base = Math.min(limits.retryBaseMs, isBroken(error) ? brokenStreamBaseMs : Infinity)
      const waitMs = Math.ceil(error.waitMs ?? backoff(failures, base, Math.random()))
      const stop =
        rare > (error.rare?.retries ?? Infinity) ? '' : reasonToStop(error, { failures, waitMs, waited, limits })
      if (stop !== undefined) throw giveUp(provider, error, stop)
      const spent = error.spent === undefined ? {} : { spent: error.spent }
      yield {
        type: 'retry',
        attempt: failures,
        of: limits.maxRetries,
        reason: error.rare === undefined ? sentence(provider, error) : `${provider.label} ${error.rare.words}`,
        waitMs,
        failure: error.kind,
        ...spent,
      }
      waited += waitMs
      await pause(waitMs, signal)
    }
  }
}

/**
 * Returns how long to wait before the next attempt, in milliseconds. The wait doubles with each failure, up to 30 s. It is then shortened by a random
 * amount of up to half, so that runs that were refused at the same time don't all retry at the same time.
 */
export function backoff(failures: number, baseMs: number, random: number): number {
  return Math.min(longestBackoffMs, baseMs * 2 ** (failures - 1)) * (0.5 + random / 2)
}

/**
 * Returns why the request is not retried, as text for the end of a message; `''` if the failure itself shows that a retry is pointless. Undefined if the
 * request is retried.
 */
function reasonToStop(
  failure: ProviderFailure,
  so: { readonly failures: number; readonly waitMs: number; readonly waited: number; readonly limits: Limits },
): string | undefined {
  if (!failure.retryable) return ''
  if (so.failures > so.limits.maxRetries) {
    const repeats = so.failures - 1
    return repeats === 0 ? ' (retries are off)' : ` (gave up after ${counted(repeats, 'retry', 'retries')})`
  }
  if (so.waited + so.waitMs <= so.limits.retryBudgetMs) return undefined
  const asked = failure.waitMs === undefined ? 'the next wait would be' : 'the provider asks for a wait of'
  return ` (gave up: ${asked} ${seconds(so.waitMs)}, and ${seconds(so.waited)} of the wait budget of ${seconds(so.limits.retryBudgetMs)} has been used)`
}

function seconds(ms: number): string {
  return `${Math.round(ms / 100) / 10} s`
}

/** Whether the provider accepted the request and began to answer, but the answer failed and may succeed if asked for again. */
function isBroken({ kind, rare, retryable, status }: ProviderFailure): boolean {
  return retryable && rare === undefined && status === undefined && kind !== 'connection'
}

/** What happened, for the user: the provider's name and the failure, without keys. */
export function sentence(provider: Pick<Endpoint, 'label' | 'secrets'>, failure: ProviderFailure): string {
  const said = `${provider.label} ${failure.message}`
  // A secret of only a few letters is not masked, because the same letters also occur within ordinary words.
  return provider.secrets
    .filter((secret) => secret.length >= 8)
    .reduce((text, secret) => text.replaceAll(secret, '[key]'), said)
}

function giveUp(
  provider: Pick<Endpoint, 'label' | 'secrets' | 'baseUrl' | 'keyFrom'>,
  failure: ProviderFailure,
  why: string,
): ModelError {
  const { baseUrl, keyFrom } = provider
  // Clients of Codex recognize this failure by these words.
  const broken = isBroken(failure) ? 'stream disconnected before completion: ' : ''
  const asked =
    failure.kind !== 'authentication' || failure.status === undefined
      ? ''
      : ` (asked at ${baseUrl.split('?')[0]} with ${keyFrom === undefined ? 'no key' : `the key from ${keyFrom}`})`
  const others = failure.status === 404 ? ' (agent models lists what your providers offer)' : ''
  return new ModelError('provider', `${broken}${sentence(provider, failure)}${asked}${why}${others}`, {
    failure: failure.kind,
    status: failure.status,
    spent: failure.spent,
  })
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    // The timer rejects with its own AbortError, but callers expect their signal's reason.
    signal.throwIfAborted()
    throw error
  }
}
