import { setLongTimeout, type LongTimeout } from '../../sandbox/index.ts'
import { ProviderFailure } from './failure.ts'
import type { Limits } from './model-options.ts'

/**
 * Sends a request, and resolves to the stream of the response's events as soon as the response headers have arrived. The stream ends early or throws
 * when the request is aborted.
 */
type OpenStream = (signal: AbortSignal) => Promise<AsyncIterable<unknown>>

/**
 * Yields a provider's events. Throws `ProviderFailure` if the headers take longer than `connectTimeoutMs` or an event takes longer than
 * `streamIdleTimeoutMs`. Closes the connection at the end, even after an error.
 */
export async function* readStream(open: OpenStream, limits: Limits, signal: AbortSignal): AsyncGenerator<unknown> {
  const own = new AbortController()
  const { connectTimeoutMs, streamIdleTimeoutMs } = limits
  try {
    const stream = await within(open(AbortSignal.any([signal, own.signal])), connectTimeoutMs, () =>
      late(connectTimeoutMs),
    )
    const events = stream[Symbol.asyncIterator]()
    for (;;) {
      const next = await within(events.next(), streamIdleTimeoutMs, () => idle(streamIdleTimeoutMs))
      if (next.done === true) return
      yield next.value
    }
  } finally {
    own.abort()
  }
}

function late(ms: number): ProviderFailure {
  return new ProviderFailure('connection', `did not answer within ${ms / 1000} s`, { retryable: true })
}

function idle(ms: number): ProviderFailure {
  return new ProviderFailure('idle', `stopped sending for ${ms / 1000} s in the middle of a stream`, {
    retryable: true,
  })
}

async function within<T>(promise: Promise<T>, ms: number, failure: () => Error): Promise<T> {
  let timer: LongTimeout | undefined
  const expired = new Promise<never>((_, reject) => {
    timer = setLongTimeout(() => reject(failure()), ms)
  })
  try {
    return await Promise.race([promise, expired])
  } finally {
    timer?.cancel()
  }
}
