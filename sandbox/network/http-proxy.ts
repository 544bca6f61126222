import {
  createServer,
  request,
  type ClientRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { renderDenial } from '../denials/render-denial.ts'
import type { Broker } from '../credentials/broker.ts'
import { passHead } from './pass-head.ts'
import type { Gate, Opened } from './proxy-gate.ts'
import { joinSockets } from './tunnel.ts'

/** Headers that apply to only one connection (RFC 9110, 7.6.1), or that are meant for this proxy. */
const hopByHop: readonly string[] = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]

/** Creates a server that never listens: the caller passes it connections by emitting `connection`. It supports CONNECT, and requests for `http://` URLs. */
export function createHttpProxy(gate: Gate, broker?: Broker): Server {
  const server = createServer({ maxHeaderSize: 32 * 1024, keepAliveTimeout: 60_000, requestTimeout: 0 })
  server.on('connect', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    void connectTunnel(gate, message.url ?? '', socket, head)
  })
  server.on('request', (message, response) => void forward(gate, broker, message, response))
  server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    void forwardUpgrade(gate, broker, message, socket, head)
  })
  server.on('clientError', (_error, socket) => {
    if (socket.writable) socket.end(plainAnswer(400, 'this is not a valid request to a proxy'))
    else socket.destroy()
  })
  return server
}

async function connectTunnel(gate: Gate, target: string, socket: Socket, head: Buffer): Promise<void> {
  // After a `connect` event, the server no longer handles the socket or its errors.
  socket.on('error', () => socket.destroy())
  const opened = await gate.open(target, 'connect')
  if (opened.status !== 'open') {
    const { code, sentence } = answerTo(opened)
    socket.end(plainAnswer(code, sentence))
  } else if (socket.destroyed) {
    opened.socket.destroy()
  } else {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
    // Data that arrived together with the request is passed on unchanged.
    if (head.length > 0) opened.socket.write(head)
    joinSockets(socket, opened.socket)
  }
}

async function forward(
  gate: Gate,
  broker: Broker | undefined,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { target, path } = targetOf(message, broker)
  if (target === undefined) {
    refuse(response, 400, notAbsolute)
    return
  }
  if (broker?.covers(target) === true) return broker.forward(target, path, message, response)
  const opened = await gate.open(target, 'http', 80)
  if (opened.status !== 'open') {
    const { code, sentence } = answerTo(opened)
    refuse(response, code, sentence)
    return
  }
  const { socket } = opened
  response.once('close', () => socket.destroy())
  if (response.destroyed) {
    socket.destroy()
    return
  }
  const onward = requestOnward(message, path, opened, { connection: 'close' })
  const fail = (): void => {
    if (response.headersSent) response.destroy()
    else refuse(response, 502, `${opened.authority} did not send a valid response`)
  }
  onward.on('error', fail)
  onward.on('response', (answer) => {
    if (!passHead(answer, response, answer.statusMessage, headersOf(answer))) return
    pipeline(answer, response, () => socket.destroy())
  })
  pipeline(message, onward, () => undefined)
}

/** Handles a request to switch protocols. A WebSocket (RFC 6455) becomes a tunnel if the server agrees; any other request gets an ordinary response. */
async function forwardUpgrade(
  gate: Gate,
  broker: Broker | undefined,
  message: IncomingMessage,
  socket: Socket,
  head: Buffer,
): Promise<void> {
  // After an `upgrade` event, the server no longer handles the socket or its errors.
  socket.on('error', () => socket.destroy())
  const { target, path } = targetOf(message, broker)
  if (target === undefined || message.method !== 'GET') {
    socket.end(
      plainAnswer(400, target === undefined ? notAbsolute : 'only a GET request can ask to switch to another protocol'),
    )
    return
  }
  if (broker?.covers(target) === true) {
    socket.end(plainAnswer(403, 'a credential is not used for connections that switch to another protocol'))
    return
  }
  const opened = await gate.open(target, 'http', 80)
  if (opened.status !== 'open') {
    const { code, sentence } = answerTo(opened)
    socket.end(plainAnswer(code, sentence))
    return
  }
  if (socket.destroyed) {
    opened.socket.destroy()
    return
  }
  socket.once('close', () => opened.socket.destroy())
  const webSocket = message.headers.upgrade?.trim().toLowerCase() === 'websocket'
  const upgrading = { connection: 'upgrade', upgrade: 'websocket' }
  const onward = requestOnward(message, path, opened, webSocket ? upgrading : { connection: 'close' })
  onward.on('error', () => socket.end(plainAnswer(502, `${opened.authority} did not send a valid response`)))
  onward.on('upgrade', (answer, server: Socket, first: Buffer) => {
    socket.write(answerHead(answer, { ...headersOf(answer), ...upgrading }))
    if (first.length > 0) socket.write(first)
    if (head.length > 0) server.write(head)
    joinSockets(socket, server)
  })
  onward.on('response', (answer) => {
    socket.write(answerHead(answer, { ...headersOf(answer), connection: 'close' }))
    pipeline(answer, socket, () => undefined)
  })
  onward.end()
}

const notAbsolute = 'ask for http://HOST/PATH, or use CONNECT for anything else'

/**
 * The host and the path in a request to a proxy (RFC 9112, 3.2.2), or to the host of a credential itself, which commands find at the port of http. If the
 * message is neither, `target` is undefined.
 */
function targetOf(
  message: IncomingMessage,
  broker: Broker | undefined,
): { readonly target: string | undefined; readonly path: string } {
  const { host = '' } = message.headers
  if (message.url?.startsWith('/') === true && broker?.covers(host) === true) return { target: host, path: message.url }
  const [, target, path = ''] = /^http:\/\/([^/?#\\]*)([/?][^#]*)?$/i.exec(message.url ?? '') ?? []
  return { target, path: path.startsWith('/') ? path : `/${path}` }
}

/**
 * Creates the request that forwards a client's request to the server that was checked. `own` contains the headers for the connection to that server.
 * They replace the headers that applied only to the client's connection.
 */
function requestOnward(
  message: IncomingMessage,
  path: string,
  { authority, socket }: Extract<Opened, { status: 'open' }>,
  own: Readonly<Record<string, string>>,
): ClientRequest {
  return request({
    method: message.method,
    path,
    // The Host header gets the name that was checked, not the name that the client wrote.
    headers: { ...headersOf(message), ...framingOf(message), host: authority.replace(/:80$/, ''), ...own },
    setHost: false,
    createConnection: () => socket,
  })
}

/**
 * Says how the end of a request's body is found. For methods that usually have no body, such as GET and DELETE, Node's client adds nothing by itself, so
 * that a body of unknown length would be sent as bytes that look like another request. A client can't remove the length by naming it in `Connection`.
 */
function framingOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  if (headers['transfer-encoding'] !== undefined) return { 'transfer-encoding': 'chunked' }
  const length = headers['content-length']
  return length === undefined ? {} : { 'content-length': length }
}

function answerHead(answer: IncomingMessage, headers: Readonly<Record<string, string | readonly string[]>>): string {
  const lines = Object.entries(headers).flatMap(([name, values]) => [values].flat().map((value) => `${name}: ${value}`))
  return [`HTTP/1.1 ${answer.statusCode ?? 502} ${answer.statusMessage ?? ''}`, ...lines, '', ''].join('\r\n')
}

function headersOf(message: IncomingMessage): Record<string, string[]> {
  const named = (message.headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase())
  const headers: Record<string, string[]> = {}
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (values !== undefined && !hopByHop.includes(name) && !named.includes(name)) headers[name] = values
  }
  return headers
}

function answerTo(opened: Exclude<Opened, { status: 'open' }>): { readonly code: number; readonly sentence: string } {
  return opened.status === 'refused'
    ? { code: 403, sentence: renderDenial(opened.denial) }
    : { code: 502, sentence: `can't connect to ${opened.reason}` }
}

function refuse(response: ServerResponse, code: number, sentence: string): void {
  // If the connection stayed open, the unread rest of the body would be mistaken for the next request.
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' })
  response.end(`${sentence}\n`)
}

function plainAnswer(code: number, sentence: string): string {
  const reasons: Readonly<Record<number, string>> = { 400: 'Bad Request', 403: 'Forbidden', 502: 'Bad Gateway' }
  const body = `${sentence}\n`
  return [
    `HTTP/1.1 ${code} ${reasons[code] ?? 'Refused'}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n')
}
