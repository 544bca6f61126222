import type { IncomingMessage, RequestOptions } from 'node:http'
import process from 'node:process'
import type { Readable, Transform } from 'node:stream'
import { PlainHeaders } from './plain-headers.ts'
import { send as sendByFetch, type Send } from './send-request.ts'

/** How many milliseconds a connection may take, and how many may pass without any data. These are the limits of Node's `fetch`. */
const [connectMs, silentMs] = [10_000, 300_000]

/**
 * Sends a request like `fetch`, but with `node:http`, which is loaded much faster. Requests that the vendors' SDKs don't send, and requests that a server
 * redirects, are left to `fetch`. Only the built program sends its requests this way (see .ci/build/plain-http.ts).
 */
export const sendByHttp: Send = async (input, init) => {
  const request = usualRequest(input, init)
  const response = request === undefined ? undefined : await responseTo(request)
  if (request === undefined || response === undefined) return sendByFetch(input, init)
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new PlainHeaders()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  const body = chunksOf(decoded(response, headers), request.signal)
  return { status, statusText, url: request.url.href, headers, body }
}

/** A request that `node:http` can send. */
type UsualRequest = {
  readonly url: URL
  readonly options: RequestOptions
  readonly body: string
  readonly signal: AbortSignal | undefined
}

function usualRequest(input: Parameters<Send>[0], init: Parameters<Send>[1]): UsualRequest | undefined {
  const { body = '', headers = [], method = 'GET', signal, ...others } = init ?? {}
  if (typeof input === 'object' || typeof body !== 'string' || Object.keys(others).length > 0) return undefined
  const url = URL.parse(input)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  const options = { method, headers: Object.fromEntries(new PlainHeaders(headers as Iterable<[string, string]>)) }
  return { url, options, body, signal: signal ?? undefined }
}

/** Resolves when the headers of the answer have arrived; undefined if the server redirects the request. Rejects like `fetch`. */
function responseTo(request: UsualRequest): Promise<IncomingMessage | undefined> {
  const { url, options, body, signal } = request
  const { request: open } =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const sent = open(url, { ...options, ...(signal === undefined ? {} : { signal }) })
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      if (signal?.aborted === true) reject(signal.reason as Error)
      // The server closed a connection that was kept for later requests, before it saw this request.
      else if (sent.reusedSocket && cause.code === 'ECONNRESET') resolve(responseTo(request))
      else reject(new TypeError('fetch failed', { cause }))
    })
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const why = new Error(`no connection within ${connectMs / 1000} seconds`)
      const timer = setTimeout(() => sent.destroy(why), connectMs)
      for (const settled of [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close'])
        socket.once(settled, () => clearTimeout(timer))
    })
    let answered: IncomingMessage | undefined
    sent.setTimeout(silentMs, () => (answered ?? sent).destroy(new Error(`no data for ${silentMs / 1000} seconds`)))
    sent.once('response', (response) => {
      answered = response
      // An error before the body is read is kept in the stream until then.
      response.on('error', () => undefined)
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0)
      if (!isRedirect || response.headers.location === undefined) return resolve(response)
      response.destroy()
      resolve(undefined)
    })
    // After an answer such as "101 Switching Protocols", there is neither a response nor an error.
    sent.once('close', () =>
      reject(new TypeError('fetch failed', { cause: new Error('no answer to an HTTP request') })),
    )
    sent.end(body)
  })
}

/** The chunks of a body. A broken connection ends the iteration with a `TypeError`, as `fetch` does. */
async function* chunksOf(stream: Readable, signal: AbortSignal | undefined): AsyncGenerator<Uint8Array, undefined> {
  try {
    yield* stream as AsyncIterable<Uint8Array>
  } catch (cause) {
    if (signal?.aborted === true) throw signal.reason
    throw new TypeError('terminated', { cause: isCut(cause) ? new Error('the server closed the connection') : cause })
  }
  return undefined
}

function isCut(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    ['ECONNRESET', 'ERR_STREAM_PREMATURE_CLOSE'].includes(String(error.code))
  )
}

/** The request doesn't ask for compression, but some servers compress nevertheless. */
function decoded(response: IncomingMessage, headers: Headers): Readable {
  const encoding = headers.get('content-encoding')?.toLowerCase() ?? 'identity'
  if (encoding === 'identity') return response
  const { createBrotliDecompress, createInflate, createUnzip } = process.getBuiltinModule('node:zlib')
  const decoders = new Map<string, () => Transform>([
    ['br', createBrotliDecompress],
    ['deflate', createInflate],
    ['gzip', createUnzip],
    ['x-gzip', createUnzip],
  ])
  const decoder = decoders.get(encoding)
  if (decoder === undefined)
    throw new TypeError(`the server compressed its answer as '${encoding}', which was not asked for`)
  return process.getBuiltinModule('node:stream').pipeline(response, decoder(), () => undefined)
}
