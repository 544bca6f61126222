import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTick } from 'node:timers/promises'

/** A request as the mock received it. */
export type Received = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  /** The parsed JSON body; undefined if there was none. */
  readonly body: unknown
  /** Resolves when the exchange is over: the answer is complete, or one side hung up. */
  readonly over: Promise<void>
}

/** How the bytes of a stream reach the client. By default: at once, complete, and closed normally. */
export type Delivery = {
  /** Splits the bytes into pieces of this size, each in a write of its own. A size of 1 splits every multi-byte character. */
  readonly chunkBytes?: number
  /** Destroys the socket after this many events. */
  readonly cutAfter?: number
  /** Whether the cut is a reset (RST) instead of an orderly end of the connection (FIN). */
  readonly reset?: true
  /** Sends nothing more after this many events, and keeps the socket open. */
  readonly stallAfter?: number
}

export type Answer =
  | { readonly kind: 'stream'; readonly frames: readonly string[]; readonly delivery?: Delivery | undefined }
  | {
      readonly kind: 'failure'
      readonly status: number
      readonly headers?: Readonly<Record<string, string>> | undefined
      readonly body: unknown
    }
  /** Accepts the request, but never answers it. */
  | { readonly kind: 'silence' }

export type SseServer = {
  readonly url: string
  /** All requests that were received so far, in order. */
  readonly requests: readonly Received[]
  close(): Promise<void>
}

/** Starts an HTTP server on a free port of 127.0.0.1 that answers each request with what `answer` returns. */
export async function startSseServer(answer: (request: Received) => Answer): Promise<SseServer> {
  const requests: Received[] = []
  const server = createServer((request, response) => {
    void receive(request, response)
      .then((received) => {
        requests.push(received)
        return send(answer(received), response)
      })
      .catch((error: unknown) => {
        // A mistake in a test's reply function must make the test fail, not hang.
        response.writeHead(400, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ error: { message: `mock: ${String(error)}` } }))
      })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

async function receive(request: IncomingMessage, response: ServerResponse): Promise<Received> {
  const over = new Promise<void>((resolve) => response.on('close', resolve))
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString('utf8')
  return {
    method: request.method ?? '',
    path: request.url ?? '',
    headers: request.headers,
    body: text === '' ? undefined : JSON.parse(text),
    over,
  }
}

async function send(answer: Answer, response: ServerResponse): Promise<void> {
  switch (answer.kind) {
    case 'silence':
      return
    case 'failure': {
      const text = typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body)
      const type = typeof answer.body === 'string' ? 'text/plain' : 'application/json'
      response.writeHead(answer.status, { 'content-type': type, ...answer.headers })
      response.end(text)
      return
    }
    case 'stream':
      return sendStream(answer.frames, answer.delivery ?? {}, response)
    default:
      return answer satisfies never
  }
}

async function sendStream(frames: readonly string[], delivery: Delivery, response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  response.flushHeaders()
  const bytes = Buffer.from(frames.slice(0, delivery.cutAfter ?? delivery.stallAfter).join(''), 'utf8')
  const size = delivery.chunkBytes ?? Math.max(bytes.length, 1)
  for (let at = 0; at < bytes.length; at += size) {
    response.write(bytes.subarray(at, at + size))
    // This waits for one turn of the event loop between writes, so that the pieces are sent separately.
    if (size < bytes.length) await nextTick()
  }
  if (delivery.stallAfter !== undefined) return
  if (delivery.cutAfter === undefined) response.end()
  // Destroying the response at once would drop bytes that are still queued.
  else setTimeout(() => (delivery.reset === true ? response.socket?.resetAndDestroy() : response.destroy()), 20)
}
