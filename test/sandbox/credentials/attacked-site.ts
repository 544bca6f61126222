import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { createProxy, type NetworkOptions } from '../../../sandbox/network/proxy.ts'
import { issueCertificate, startTlsSite } from '../../support/tls-site.ts'

/** The value of the credential. */
export const value = 'Kq7vX2mZp9Rt4WbN6cYd1sFgH3jL5aQe'

/** What a test's site received. */
type Received = { readonly line: string; readonly headers: IncomingMessage['headers']; readonly body: string }

/** Starts a site behind TLS, and a proxy with a credential for it. `answer` is the site's. */
export async function start(
  allow: readonly string[],
  options: NetworkOptions = {},
  answer: (message: IncomingMessage, response: ServerResponse) => void = (_, response) => void response.end('fine'),
) {
  const received: Received[] = []
  const port = await startTlsSite(issueCertificate(['api.test']), (message, response) => {
    void text(message)
      .catch(() => 'cut off')
      .then((body) => {
        received.push({ line: `${message.method} ${message.url}`, headers: message.headers, body })
        answer(message, response)
      })
  })
  const credentials = [{ name: 'app', hosts: [`api.test:${port}`], as: 'bearer', allow }] as const
  const proxy = createProxy(
    [],
    { secretOf: () => value, resolve: async () => ['127.0.0.1'], ...options },
    [],
    credentials,
  )
  const session = proxy.startSession(async () => 'its history is not known')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  session.attach(server)
  onTestFinished(() => void session.end())
  const send = async (bytes: string | Buffer, patience = 1500): Promise<string> => {
    const socket = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1' })
    socket.on('error', () => undefined)
    socket.write(bytes)
    // A request that never ends is given up.
    const timer = setTimeout(() => socket.destroy(), patience)
    const answered = await text(socket).catch(() => '')
    clearTimeout(timer)
    socket.destroy()
    return answered
  }
  return { received, send, at: `http://api.test:${port}`, host: `api.test:${port}`, session }
}

/** A request to a proxy, with this method and path, for what is at an address. */
export const request = (at: string, line: string, headers: readonly string[] = [], body = ''): string => {
  const [method = '', path = ''] = line.split(' ')
  const length = body === '' ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]
  return [
    `${method} ${at}${path} HTTP/1.1`,
    'Host: api.test',
    'Connection: close',
    ...headers,
    ...length,
    '',
    body,
  ].join('\r\n')
}
