import { malformedStream } from './failure.ts'

const mebibyte = 1024 * 1024
/** Of one line of a stream: no event of a model is near that, and a line is kept whole until it ends. */
const longestLine = 32 * mebibyte
/** Of an answer that is no stream but says why there is none. */
const longestRefusal = mebibyte / 4
const lineFeed = 10

/**
 * `fetch` for clients that keep what they read: an answer of any length takes a bounded part of the memory. A stream with a line that
 * is too long fails with a `ProviderFailure`; of a refusal the rest is not read.
 */
export async function boundedFetch(...request: Parameters<typeof fetch>): Promise<Response> {
  const response = await fetch(...request)
  const { body, ok, status, statusText, headers } = response
  if (body === null) return response
  const bounded = body.pipeThrough(ok ? linesUpTo(longestLine) : bytesUpTo(longestRefusal))
  return new Response(bounded, { status, statusText, headers })
}

function linesUpTo(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let length = 0
  return new TransformStream({
    transform(chunk, controller) {
      const end = chunk.lastIndexOf(lineFeed)
      length = end === -1 ? length + chunk.length : chunk.length - end - 1
      if (length > limit) controller.error(malformedStream(`a line of more than ${limit / mebibyte} MiB`))
      else controller.enqueue(chunk)
    },
  })
}

function bytesUpTo(limit: number): TransformStream<Uint8Array, Uint8Array> {
  let left = limit
  return new TransformStream({
    transform(chunk, controller) {
      controller.enqueue(chunk.subarray(0, left))
      left -= chunk.length
      if (left <= 0) controller.terminate()
    },
  })
}
