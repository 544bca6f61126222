import { setLongTimeout, type LongTimeout } from '../../sandbox/index.ts'
import { ProviderFailure } from './failure.ts'
import type { Limits } from './model-options.ts'

/**
 * Sends a request, and resolves to the stream of the response's events as soon as the response headers have arrived. The stream ends early or throws
 * when the request is aborted.
 */
type OpenStream = (signal: AbortSignal) => Promise<AsyncIterable<unknown>>

/** How many milliseconds the rest of a stream may take after the event that says why the answer ended: only counts come then, which aren't worth more. */
const restMs = 2000

/**
 * Yields a provider's events. Throws `ProviderFailure` if the headers take longer than `connectTimeoutMs` or an event takes longer than
 * `streamIdleTimeoutMs`. Closes the connection at the end, even after an error. Some servers keep the connection open after the last event: the stream
 * ends by itself two seconds after the event that is the answer's end.
 *
 * @param isEnd whether an event says that the answer is complete
 * @param way what else may be silent if no headers come, such as a proxy, as a clause that follows the failure's words. Default: nothing
 */
export async function* readStream(
  open: OpenStream,
  isEnd: (event: unknown) => boolean,
  limits: Limits,
  signal: AbortSignal,
  way = '',
): AsyncGenerator<unknown> {
  const own = new AbortController()
  const { connectTimeoutMs, streamIdleTimeoutMs } = limits
  try {
    const stream = await within(open(AbortSignal.any([signal, own.signal])), connectTimeoutMs, () =>
      late(connectTimeoutMs, way),
    )
    const events = stream[Symbol.asyncIterator]()
    let ended: number | undefined
    for (;;) {
      const left = ended === undefined ? Infinity : Math.max(0, ended + restMs - performance.now())
      const waitMs = Math.min(left, streamIdleTimeoutMs)
      const next = await within(events.next(), waitMs, () => (ended === undefined ? idle(streamIdleTimeoutMs) : isOver))
      if (next.done === true) return
      if (isEnd(next.value)) ended ??= performance.now()
      yield next.value
    }
  } catch (error) {
    if (error !== isOver) throw error
  } finally {
    own.abort()
  }
}

/** Thrown instead of a failure if only the rest of an answer is missing. */
const isOver = new Error('the answer has ended')

function late(ms: number, way: string): ProviderFailure {
  return new ProviderFailure('connection', `did not answer within ${ms / 1000} s${way}`, { retryable: true })
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
