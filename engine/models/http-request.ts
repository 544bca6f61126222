import type { IncomingMessage, RequestOptions } from 'node:http'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { decodedBody } from './decode-body.ts'
import { PlainHeaders } from './plain-headers.ts'
import { send as sendByFetch, type Answer, type Send } from './send-request.ts'

/** How many milliseconds a connection may take, and how many may pass without any data. These are the limits of Node's `fetch`. */
const [connectMs, silentMs] = [10_000, 300_000]
/** Headers that describe the connection or the length of the body. `fetch` ignores or refuses them, but `node:http` obeys them. */
const ofConnection = 'connection content-length expect host keep-alive trailer transfer-encoding upgrade'.split(' ')

/**
 * Sends a request like `fetch`, but with `node:http`, which is loaded much faster. Requests that the vendors' SDKs don't send, and requests that a server
 * redirects, are left to `fetch`. Only the built program sends its requests this way (see .ci/build/plain-http.ts).
 */
export const sendByHttp: Send = async (input, init) => {
  const request = usualRequest(input, init)
  const arrived = request === undefined ? undefined : await responseTo(request)
  if (request === undefined || arrived === undefined) return sendByFetch(input, init)
  const { response, release } = arrived
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = response
  const headers = new PlainHeaders()
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '')
  try {
    const body = chunksOf(decodedBody(response, headers), arrived, request.signal)
    return { status, statusText, url: request.url.href, headers, body }
  } catch (error) {
    release()
    throw error
  }
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
  const all = new PlainHeaders(headers as Iterable<[string, string]>)
  if (ofConnection.some((name) => all.has(name))) return undefined
  const options = { method, headers: Object.fromEntries(all) }
  return { url, options, body, signal: signal ?? undefined }
}

/** An answer whose headers have arrived. */
type Arrived = {
  readonly response: IncomingMessage
  /** Returns the error that has ended the connection since then, if there was one. */
  readonly failure: () => Error | undefined
  /** Gives up the rest of the answer. */
  readonly release: () => void
}

/** Resolves when the headers of the answer have arrived; undefined if the server redirects the request. Rejects like `fetch`. */
function responseTo(request: UsualRequest): Promise<Arrived | undefined> {
  const { url, options, body, signal } = request
  const { request: open } =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const sent = open(url, options)
    let answered: IncomingMessage | undefined
    let failure: Error | undefined
    const release = (): void => {
      // If the answer has arrived as a whole, the next request can use its connection. For that, the answer must be read to its end.
      if (answered?.complete === true && sent.writableFinished) while (answered.read() !== null);
      else sent.destroy()
    }
    const abort = (): void => {
      reject(signal?.reason as Error)
      release()
    }
    signal?.addEventListener('abort', abort, { once: true })
    sent.once('close', () => signal?.removeEventListener('abort', abort))
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      failure = cause
      if (signal?.aborted === true) reject(signal.reason as Error)
      // The server closed a connection that was kept for later requests, before it saw this request.
      else if (sent.reusedSocket && isCut(cause)) resolve(responseTo(request))
      else reject(new TypeError('fetch failed', { cause: named(cause) }))
    })
    sent.once('socket', (socket) => {
      if (!socket.connecting) return
      const why = new Error(`no connection within ${connectMs / 1000} seconds`)
      const timer = setTimeout(() => sent.destroy(why), connectMs)
      for (const settled of [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close'])
        socket.once(settled, () => clearTimeout(timer))
    })
    sent.setTimeout(silentMs, () => (answered ?? sent).destroy(new Error(`no data for ${silentMs / 1000} seconds`)))
    sent.once('response', (response) => {
      answered = response
      // An error before the body is read must not be uncaught. The stream reports it again to whoever reads the body.
      response.on('error', () => undefined)
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0)
      if (!isRedirect || response.headers.location === undefined)
        return resolve({ response, failure: () => failure, release })
      response.destroy()
      resolve(undefined)
    })
    // After an answer such as "101 Switching Protocols", there is neither a response nor an error.
    sent.once('close', () =>
      reject(new TypeError('fetch failed', { cause: new Error('no answer to an HTTP request') })),
    )
    // Node would send a header as UTF-8 instead of Latin-1 together with a body that is a string.
    sent.end(Buffer.from(body))
  })
}

/** The chunks of a body. A broken connection ends the iteration with a `TypeError`, as `fetch` does. */
function chunksOf(body: Readable, { failure, release }: Arrived, signal: AbortSignal | undefined): Answer['body'] {
  const chunks: AsyncIterator<Uint8Array, undefined> = body[Symbol.asyncIterator]()
  const end = { done: true, value: undefined } as const
  let isOver = false
  return {
    next: async () => {
      if (isOver) return end
      try {
        const read = await chunks.next()
        // After an abortion, the end of the stream is not the end of the answer.
        signal?.throwIfAborted()
        return read
      } catch (error) {
        if (isOver) return end
        if (signal?.aborted === true) throw signal.reason
        // The stream only knows that the connection was closed. The request knows why, for example that the body is not what its headers say.
        throw new TypeError('terminated', { cause: named(isCut(error) ? (failure() ?? error) : error) })
      }
    },
    // Doesn't wait for a chunk that another call waits for.
    return: () => {
      isOver = true
      release()
      return Promise.resolve(end)
    },
  }
}

/** Node has several names for this, such as "socket hang up" and "aborted". */
function named(error: unknown): unknown {
  return isCut(error) ? new Error('the server closed the connection') : error
}

function isCut(error: unknown): boolean {
  const codes = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
