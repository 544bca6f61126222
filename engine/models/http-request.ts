import type { Agent, IncomingMessage, RequestOptions } from 'node:http'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { decodedBody } from './decode-body.ts'
import { PlainHeaders } from './plain-headers.ts'
import { sendByFetch, type Answer, type Send } from './send-by-fetch.ts'

/** How many milliseconds connecting may take, and how many may pass without any data arriving. These are the limits of Node's `fetch`. */
const [connectMs, silentMs] = [10_000, 300_000]
/** Headers that describe the connection or the length of the body. `fetch` ignores or refuses them, but `node:http` obeys them. */
const ofConnection = 'connection content-length expect host keep-alive trailer transfer-encoding upgrade'.split(' ')

/**
 * Sends a request like `fetch`, but with `node:http`, which is loaded much faster. Kinds of requests that the vendors' SDKs never send, and requests
 * that a server redirects, are left to `fetch`.
 */
export const sendByHttp = async (...[input, init, agents]: [...Parameters<Send>, agents?: Agents]): Promise<Answer> => {
  const request = usualRequest(input, init, agents)
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

/** The agents for requests that must not use the process's own, by the protocol. */
type Agents = Readonly<Record<string, Agent>>

function usualRequest(
  input: Parameters<Send>[0],
  init: Parameters<Send>[1],
  agents: Agents | undefined,
): UsualRequest | undefined {
  const { body = '', headers = [], method = 'GET', signal, ...others } = init ?? {}
  if (typeof input === 'object' || typeof body !== 'string' || Object.keys(others).length > 0) return undefined
  const url = URL.parse(input)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return undefined
  const all = new PlainHeaders(headers as Iterable<[string, string]>)
  if (ofConnection.some((name) => all.has(name))) return undefined
  const agent = agents?.[url.protocol]
  // Without a list, a server that speaks only HTTP/2 would be free to answer in it.
  const protocols = url.protocol === 'https:' ? { ALPNProtocols: ['http/1.1'] } : {}
  const options = {
    method,
    headers: Object.fromEntries(all),
    ...protocols,
    ...(agent === undefined ? {} : { agent }),
  }
  return { url, options, body, signal: signal ?? undefined }
}

/** A response whose headers have arrived. */
type Arrived = {
  readonly response: IncomingMessage
  /** Returns the error that broke the connection after the headers had arrived; undefined if there was none. */
  readonly failure: () => Error | undefined
  /** Stops using the answer: closes the connection, or leaves it to later requests if the whole answer has arrived. */
  readonly release: () => void
}

/** Resolves to the answer when its headers have arrived, or to undefined if the server redirects the request. Rejects like `fetch`. */
function responseTo(request: UsualRequest): Promise<Arrived | undefined> {
  const { url, options, body, signal } = request
  const { request: open } =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https') : process.getBuiltinModule('node:http')
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const sent = open(url, options)
    let answered: IncomingMessage | undefined
    let failure: Error | undefined
    let hasHeard = (): boolean => true
    const release = (): void => {
      // If the whole answer has arrived, it is read to its end, because only then can a later request reuse the connection.
      if (answered?.complete === true && sent.writableFinished) while (answered.read() !== null);
      else sent.destroy()
    }
    const abort = (): void => {
      reject(signal?.reason as Error)
      release()
    }
    signal?.addEventListener('abort', abort, { once: true })
    sent.on('error', (cause: NodeJS.ErrnoException) => {
      failure = cause
      // After the headers, the error belongs to whoever reads the body.
      if (signal?.aborted === true || answered !== undefined) return
      // The connection was kept open for later requests, and the server closed it before it saw this request, so the request is sent again. A server
      // that has begun to answer has seen it.
      if (sent.reusedSocket && isCut(cause) && !hasHeard()) resolve(responseTo(request))
      else reject(new TypeError('fetch failed', { cause: named(cause) }))
    })
    sent.once('socket', (socket) => {
      const before = socket.bytesRead
      hasHeard = () => socket.bytesRead > before
      if (!socket.connecting) return
      const why = new Error(`no connection within ${connectMs / 1000} seconds`)
      const timer = setTimeout(() => sent.destroy(why), connectMs)
      for (const settled of [url.protocol === 'https:' ? 'secureConnect' : 'connect', 'close'])
        socket.once(settled, () => clearTimeout(timer))
    })
    sent.setTimeout(silentMs, () => (answered ?? sent).destroy(new Error(`no data for ${silentMs / 1000} seconds`)))
    sent.once('response', (response) => {
      answered = response
      // If the connection fails before the body is read, whoever reads the body gets the error from the stream. Without this listener, it would be
      // uncaught.
      response.on('error', () => undefined)
      const isRedirect = [301, 302, 303, 307, 308].includes(response.statusCode ?? 0)
      if (!isRedirect || response.headers.location === undefined)
        return resolve({ response, failure: () => failure, release })
      response.destroy()
      resolve(undefined)
    })
    sent.once('close', () => {
      signal?.removeEventListener('abort', abort)
      // After an answer such as "101 Switching Protocols", there is neither a `response` event nor an `error` event.
      reject(new TypeError('fetch failed', { cause: new Error('no answer to an HTTP request') }))
    })
    // The body is passed as bytes, because with a string as the body, Node would send the headers as UTF-8 instead of Latin-1.
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
        // After an abort, the end of the stream doesn't mean that the answer is complete.
        signal?.throwIfAborted()
        return read
      } catch (error) {
        if (isOver) return end
        if (signal?.aborted === true) throw signal.reason
        // The stream's error says only that the connection was closed. The request's error says why, for example that the body doesn't match its
        // headers.
        throw new TypeError('terminated', { cause: named(isCut(error) ? (failure() ?? error) : error) })
      }
    },
    // Returns at once, even if another call is still waiting for a chunk.
    return: () => {
      isOver = true
      release()
      return Promise.resolve(end)
    },
  }
}

/**
 * Returns an error with one fixed message if the given error means a closed connection, for which Node has several messages, such as "socket hang up"
 * and "aborted". Returns any other error unchanged.
 */
function named(error: unknown): unknown {
  return isCut(error) ? new Error('the server closed the connection') : error
}

function isCut(error: unknown): boolean {
  const codes = ['ECONNRESET', 'EPIPE', 'ERR_STREAM_PREMATURE_CLOSE']
  return error instanceof Error && 'code' in error && codes.includes(String(error.code))
}
