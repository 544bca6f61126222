import type { Endpoint } from './endpoint.ts'
import { malformedStream } from './failure.ts'

const mebibyte = 1024 * 1024
/** The maximum length of a line in a stream, in bytes. A line is held in memory until it ends. No event of a model comes close to this length. */
const longestLine = 32 * mebibyte
/** The maximum length of the body of an error response, in bytes. */
const longestRefusal = mebibyte / 4
const lineFeed = 10

/**
 * `fetch` for clients that buffer what they read: an answer of any length takes a bounded amount of memory. A stream with a line that is
 * too long fails with a `ProviderFailure`. The rest of a long error body is not read.
 *
 * @param heard receives the headers of each answer
 */
export function boundedFetch(heard?: Endpoint['heard']): typeof fetch {
  return async (...request) => {
    const response = await fetch(...request)
    heard?.((name) => response.headers.get(name))
    return bounded(response)
  }
}

function bounded(response: Response): Response {
  const { body, ok, status, statusText, headers } = response
  if (body === null) return response
  const reading = readWithin(body, ok ? linesUpTo(longestLine) : bytesUpTo(longestRefusal))
  const answer = new Response(asStream(reading), { status, statusText, headers })
  // Clients get the body as a plain iterable. They would cancel a stream at its end, and for the first cancellation in a process, Node creates a whole
  // JavaScript context, only to shorten the text of an error that nobody sees. `pipeThrough` would cost just as much.
  return ok ? Object.defineProperty(answer, 'body', { value: asIterable(reading) }) : answer
}

/** Decides which part of a chunk is passed on, and whether it is the last part. Throws an error if the stream must fail. */
type Bound = (chunk: Uint8Array) => { readonly part: Uint8Array; readonly isLast: boolean }

function linesUpTo(limit: number): Bound {
  let length = 0
  return (chunk) => {
    const end = chunk.lastIndexOf(lineFeed)
    length = end === -1 ? length + chunk.length : chunk.length - end - 1
    if (length > limit) throw malformedStream(`a line of more than ${limit / mebibyte} MiB`)
    return { part: chunk, isLast: false }
  }
}

function bytesUpTo(limit: number): Bound {
  let left = limit
  return (chunk) => {
    const part = chunk.subarray(0, left)
    left -= chunk.length
    return { part, isLast: left <= 0 }
  }
}

type Step = { readonly done: true; readonly value: undefined } | { readonly done: false; readonly value: Uint8Array }

/** A body that is being read: `next` reads its next chunk, `stop` ends it early. */
type Reading = { readonly next: () => Promise<Step>; readonly stop: (why?: unknown) => Promise<void> }

const ended: Step = { done: true, value: undefined }

/** Reads as much of a stream as the bound allows. */
function readWithin(body: ReadableStream<Uint8Array>, bound: Bound): Reading {
  const reader = body.getReader()
  let isOver = false
  const stop = async (why?: unknown): Promise<void> => {
    isOver = true
    // The connection isn't used any more, so errors while it is closed don't matter.
    await reader.cancel(why).catch(() => undefined)
  }
  const next = async (): Promise<Step> => {
    if (isOver) return ended
    const read = await reader.read()
    if (read.done) return ended
    try {
      const { part, isLast } = bound(read.value)
      if (isLast) await stop()
      return { done: false, value: part }
    } catch (error) {
      await stop(error)
      throw error
    }
  }
  return { next, stop }
}

function asStream({ next, stop }: Reading): ReadableStream<Uint8Array> {
  const source: UnderlyingDefaultSource<Uint8Array> = {
    async pull(controller) {
      const { done, value } = await next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
    cancel: stop,
  }
  return new ReadableStream(source, { highWaterMark: 0 })
}

function asIterable({ next, stop }: Reading): AsyncIterableIterator<Uint8Array> {
  const iterator: AsyncIterableIterator<Uint8Array> = {
    next,
    return: async () => {
      await stop()
      return ended
    },
    [Symbol.asyncIterator]: () => iterator,
  }
  return iterator
}
