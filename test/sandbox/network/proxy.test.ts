import { once } from 'node:events'
import { createServer as createHttp, type IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import type { NetworkDecision } from '../../../sandbox/index.ts'
import type { HostPatternInput } from '../../../sandbox/network/host-pattern.ts'
import { createProxy } from '../../../sandbox/network/proxy.ts'

const publicAddress = '93.184.215.14'

/** Opens a proxy session on a loopback port. Names are resolved as the test specifies, and every query to the resolver is recorded. */
async function openProxy(
  allow: readonly HostPatternInput[],
  answers: Readonly<Record<string, readonly string[]>> = {},
) {
  const asked: string[] = []
  const decisions: NetworkDecision[] = []
  const proxy = createProxy(allow, {
    onDecision: (decision) => decisions.push(decision),
    resolve: async (name) => {
      asked.push(name)
      const answer = answers[name]
      if (answer === undefined) throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' })
      return answer
    },
  })
  const session = proxy.startSession()
  const port = await listen(createServer(), (server) => session.attach(server))
  onTestFinished(() => void session.end())
  return { port, session, asked, decisions }
}

async function listen(server: Server, prepare: (server: Server) => void = () => undefined): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  prepare(server)
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A web server that responds to each request with what it received. */
async function openSite(): Promise<number> {
  const server = createHttp((message: IncomingMessage, response) => {
    void text(message).then((body) => {
      response.setHeader('x-site', 'here')
      response.end(JSON.stringify({ method: message.method, url: message.url, headers: message.headers, body }))
    })
  })
  onTestFinished(() => server.closeAllConnections())
  return listen(server)
}

/** Sends bytes and returns everything that comes back. With `half`, the sending side is closed immediately. */
async function exchange(port: number, bytes: string | Uint8Array, half = false): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined)
  if (half) socket.end(bytes)
  else socket.write(bytes)
  const answer = await text(socket).catch(() => '')
  socket.destroy()
  return answer
}

const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1])

test('an allowed host that a rule forbids is refused, and never resolved', async () => {
  const asked: string[] = []
  const proxy = createProxy(['*.site.test'], {
    forbids: (host, port, via) => (host === 'evil.site.test' ? `no ${host}:${port} by ${via}` : undefined),
    resolve: async (name) => {
      asked.push(name)
      return []
    },
  })
  const session = proxy.startSession()
  const port = await listen(createServer(), (server) => session.attach(server))
  expect(statusOf(await exchange(port, 'CONNECT evil.site.test:443 HTTP/1.1\r\n\r\n'))).toBe(403)
  expect(asked).toEqual([])
  expect(session.end()).toMatchObject([
    { kind: 'host', subject: 'evil.site.test:443', rule: 'no evil.site.test:443 by connect' },
  ])
})

test('an allowed site answers over CONNECT, over plain HTTP and over SOCKS5', async () => {
  const site = await openSite()
  const { port, decisions } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], {
    'site.test': ['127.0.0.1'],
  })
  const get = `GET /a?b HTTP/1.1\r\nHost: site.test:${site}\r\nConnection: close\r\n\r\n`
  const tunnel = await exchange(port, `CONNECT site.test:${site} HTTP/1.1\r\n\r\n${get}`)
  expect(tunnel).toMatch(/^HTTP\/1.1 200 Connection established\r\n\r\nHTTP\/1.1 200 OK[^]*"url":"\/a\?b"/)
  const plain = await exchange(port, get.replace('/a?b', `http://site.test:${site}/a?b`))
  expect(plain).toMatch(/^HTTP\/1.1 200 OK[^]*x-site: here[^]*"url":"\/a\?b"/)
  const socks = await exchange(port, Buffer.concat([greeting, socksTo('site.test', site), Buffer.from(get)]))
  expect(socks).toMatch(/HTTP\/1.1 200 OK[^]*"url":"\/a\?b"/)
  expect(decisions.map(({ via, verdict }) => [via, verdict])).toEqual([
    ['connect', 'allowed'],
    ['http', 'allowed'],
    ['socks5', 'allowed'],
  ])
})

test('a body passes unchanged, and the site gets the host that was judged, not the one in the Host header', async () => {
  const site = await openSite()
  const { port } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], { 'site.test': ['127.0.0.1'] })
  const request = [
    `POST http://SITE.test.:${site} HTTP/1.1`,
    'Host: inner.test',
    'Content-Length: 5',
    'X-Kept: yes',
    'X-Named: no',
    'Proxy-Authorization: Basic c2VjcmV0',
    'Connection: close, x-named',
    '',
    'hello',
  ].join('\r\n')
  const answer = await exchange(port, request)
  const seen = JSON.parse(answer.slice(answer.indexOf('{'), answer.lastIndexOf('}') + 1)) as Record<string, unknown>
  expect(seen).toEqual({
    method: 'POST',
    url: '/',
    headers: { host: `site.test:${site}`, 'content-length': '5', 'x-kept': 'yes', connection: 'close' },
    body: 'hello',
  })
})

test.each(
  ['GET', 'DELETE', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'QUERY'].flatMap((method) => [
    [
      method,
      'of unknown length',
      'Transfer-Encoding: chunked\r\nConnection: close',
      '5\r\nhello\r\n0\r\n\r\n',
    ] as const,
    [method, 'of known length', 'Content-Length: 5\r\nConnection: close, content-length', 'hello'] as const,
  ]),
)(
  'the body of a %s request %s keeps its framing, so that it never looks like another request',
  async (method, _, framing, body) => {
    const site = await openSite()
    const { port } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], {
      'site.test': ['127.0.0.1'],
    })
    const head = `${method} http://site.test:${site}/x HTTP/1.1\r\nHost: site.test\r\n${framing}\r\n\r\n`
    const answer = await exchange(port, head + body)
    expect(answer.match(/HTTP\/1.1 200/g)).toHaveLength(1)
    expect(answer).toContain('"body":"hello"')
  },
)

test.each([
  ['another host', 'evil.test:443'],
  ['a host below an allowed one', 'a.site.test:443'],
  ['an allowed host as a prefix', 'site.test.evil.test:443'],
  ['another port', 'site.test:22'],
  ['a NUL', 'evil.test\0.site.test:443'],
  ['an escaped NUL', 'evil.test%00.site.test:443'],
  ['a user name', 'site.test@evil.test:443'],
  ['an address', `${publicAddress}:443`],
  ['loopback', '127.0.0.1:443'],
  ['loopback as one number', '2130706433:443'],
  ['IPv6 loopback', '[::1]:443'],
  ['metadata', '169.254.169.254:80'],
  ['IPv6 metadata', '[fd00:ec2::254]:80'],
  ['localhost', 'localhost:443'],
  ['a lookalike', 'xn--ste-tza.test:443'],
  ['no port', 'site.test'],
])('%s is refused on every route, and never resolved', async (_, target) => {
  const { port, asked, session } = await openProxy(['site.test'])
  const [, host = '', targetPort = '443'] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(target) ?? []
  expect([400, 403]).toContain(statusOf(await exchange(port, `CONNECT ${target} HTTP/1.1\r\nHost: site.test\r\n\r\n`)))
  const plain = `GET http://${target.endsWith('test') ? `${target}:1` : target}/ HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n`
  expect([400, 403]).toContain(statusOf(await exchange(port, plain)))
  if (target !== 'site.test') {
    const answer = await exchange(port, Buffer.concat([greeting, socksTo(host, Number(targetPort))]))
    expect([...answer].map((character) => character.codePointAt(0)).slice(0, 4)).toEqual([5, 0, 5, 2])
  }
  expect(asked).toEqual([])
  for (const denial of session.end()) expect(denial).toMatchObject({ kind: 'host', certainty: 'proven' })
})

test('a refusal says in one line what was refused, why, and what would allow it', async () => {
  const { port, session } = await openProxy(['site.test'])
  const answer = await exchange(port, 'CONNECT evil.test:443 HTTP/1.1\r\n\r\n')
  expect(answer.split('\r\n\r\n')[1]).toBe(
    'The sandbox refused a connection to evil.test:443 (network.allow: no entry covers this host). To allow it: add "evil.test" to network.allow.\n',
  )
  await exchange(port, 'CONNECT site.test:8443 HTTP/1.1\r\n\r\n')
  expect(session.end()).toEqual([
    {
      kind: 'host',
      subject: 'evil.test:443',
      rule: 'network.allow: no entry covers this host',
      certainty: 'proven',
      remedy: { kind: 'allow-host', host: 'evil.test' },
    },
    {
      kind: 'host',
      subject: 'site.test:8443',
      rule: 'network.allow: site.test does not cover port 8443',
      certainty: 'proven',
      remedy: { kind: 'allow-host', host: 'site.test:8443' },
    },
  ])
})

test.each([
  ['loopback', ['127.0.0.1']],
  ['IPv6 loopback', ['::1']],
  ['a private network', ['10.0.0.5']],
  ['link-local', ['169.254.7.7']],
  ['a shared network', ['100.64.0.1']],
  ['metadata', ['169.254.169.254']],
  ['multicast', ['224.0.0.1']],
  ['loopback in IPv6 clothes', ['::ffff:127.0.0.1']],
  ['loopback behind NAT64', ['64:ff9b::7f00:1']],
  ['a public address beside loopback', [publicAddress, '127.0.0.1']],
])('an allowed name that resolves to %s is refused', async (_, answers) => {
  const { port, session } = await openProxy(['site.test'], { 'site.test': answers })
  expect(statusOf(await exchange(port, 'CONNECT site.test:443 HTTP/1.1\r\n\r\n'))).toBe(403)
  expect(session.end()).toHaveLength(1)
})

test('even a name that may be private can’t reach metadata services', async () => {
  const { port } = await openProxy([{ host: 'site.test', allowPrivate: true }], { 'site.test': ['169.254.169.254'] })
  expect(statusOf(await exchange(port, 'CONNECT site.test:80 HTTP/1.1\r\n\r\n'))).toBe(403)
})

test('the checked address is the one that is used: a name is resolved once per connection', async () => {
  const site = await openSite()
  // Nobody listens at the first resolved address, but a second lookup would find the site.
  const answers = ['127.0.0.2']
  const proxy = createProxy([{ host: `site.test:${site}`, allowPrivate: true }], {
    resolve: async () => [answers.shift() ?? '127.0.0.1'],
  })
  const session = proxy.startSession()
  onTestFinished(() => void session.end())
  const port = await listen(createServer(), (server) => session.attach(server))
  const statuses: number[] = []
  for (let time = 0; time < 2; time += 1) {
    statuses.push(statusOf(await exchange(port, `CONNECT site.test:${site} HTTP/1.1\r\n\r\nGET / HTTP/1.0\r\n\r\n`)))
  }
  expect(statuses).toEqual([502, 200])
})

test('on a kept-alive connection, each request is judged separately', async () => {
  const site = await openSite()
  const { port } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], { 'site.test': ['127.0.0.1'] })
  const requests = [`http://site.test:${site}/`, 'http://evil.test/'].map(
    (url) => `GET ${url} HTTP/1.1\r\nHost: site.test:${site}\r\n\r\n`,
  )
  const answer = await exchange(port, requests.join(''))
  expect(answer.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 403'])
})

test('a second CONNECT in a tunnel is passed on as bytes to the host of the first', async () => {
  let received = ''
  const site = await listen(
    createServer((socket) => socket.on('data', (data) => ((received += data.toString()), socket.end()))),
  )
  const { port, decisions } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], {
    'site.test': ['127.0.0.1'],
  })
  const second = 'CONNECT evil.test:443 HTTP/1.1\r\n\r\n'
  const answer = await exchange(port, `CONNECT site.test:${site} HTTP/1.1\r\n\r\n${second}`)
  expect({ received, answer, decided: decisions.length }).toEqual({
    received: second,
    answer: 'HTTP/1.1 200 Connection established\r\n\r\n',
    decided: 1,
  })
})

test('a refused WebSocket is refused', async () => {
  const { port } = await openProxy([])
  const answer = await exchange(
    port,
    'GET http://nowhere.test/ HTTP/1.1\r\nHost: nowhere.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n',
  )
  expect(answer).toMatch(/^HTTP\/1.1 403 /)
})

/** A server that accepts a request for any upgrade and echoes all data that follows. It answers all other requests with a text. */
async function openEcho(): Promise<number> {
  const server = createHttp((message, response) => response.end(`plain ${message.headers.upgrade ?? 'nothing'}`))
  server.on('upgrade', (message: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.write(
      `HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Host: ${message.headers.host}\r\n\r\n`,
    )
    socket.write(head)
    socket.pipe(socket)
  })
  return listen(server)
}

const askFor = (protocol: string, site: number): string =>
  `GET http://localhost:${site}/chat HTTP/1.1\r\nHost: elsewhere.test\r\nUpgrade: ${protocol}\r\nConnection: Upgrade\r\n\r\n`

test('a WebSocket to an allowed host works both ways, with the host that was judged', async () => {
  const site = await openEcho()
  const { port } = await openProxy([{ host: `localhost:${site}`, allowPrivate: true }], { localhost: ['127.0.0.1'] })
  const answer = await exchange(port, `${askFor('websocket', site)}ping`, true)
  expect(answer).toMatch(/^HTTP\/1.1 101 /)
  expect(answer.toLowerCase()).toContain('upgrade: websocket')
  expect(answer.toLowerCase()).toContain(`x-host: localhost:${site}`)
  expect(answer).toMatch(/\r\n\r\nping$/)
})

test('an upgrade to anything but a WebSocket is passed on as an ordinary request', async () => {
  const site = await openEcho()
  const { port } = await openProxy([{ host: `localhost:${site}`, allowPrivate: true }], { localhost: ['127.0.0.1'] })
  const answer = await exchange(port, askFor('h2c', site))
  expect(answer).toMatch(/^HTTP\/1.1 200 /)
  expect(answer).toMatch(/\r\n\r\nplain nothing$/)
})

test.each([
  ['a request for a path', 'GET / HTTP/1.1\r\nHost: site.test\r\n\r\n'],
  ['https without CONNECT', 'GET https://site.test/ HTTP/1.1\r\nHost: site.test\r\n\r\n'],
  ['no HTTP at all', '\x16\x03\x01\x02\x00'],
  [
    'two lengths',
    'POST http://site.test/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
  ],
])('%s is a bad request', async (_, bytes) => {
  const { port, asked } = await openProxy(['site.test'])
  expect(statusOf(await exchange(port, bytes, true))).toBe(400)
  expect(asked).toEqual([])
})

test('endless headers are cut off', async () => {
  const { port } = await openProxy(['site.test'])
  const answer = await exchange(port, `CONNECT site.test:443 HTTP/1.1\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`)
  expect(['', 'HTTP/1.1 400']).toContain(answer.slice(0, 12))
})

test.each([
  ['other than CONNECT', [5, 2, 0, 1, 1, 1, 1, 1, 0, 80], 7],
  ['to an unknown kind of address', [5, 1, 0, 9, 1, 1, 1, 1, 0, 80], 8],
  ['to an address that is not allowed', [5, 1, 0, 1, 1, 1, 1, 1, 0, 80], 2],
  ['to an IPv6 address that is not allowed', [5, 1, 0, 4, ...Array.from({ length: 15 }, () => 0), 1, 0, 80], 2],
  ['to port 0', [5, 1, 0, 3, 1, 97, 0, 0], 2],
])('a SOCKS5 request %s gets its error', async (_, bytes, code) => {
  const { port } = await openProxy(['site.test'])
  const answer = await exchange(port, Buffer.from([...greeting, ...bytes]))
  expect([answer.codePointAt(2), answer.codePointAt(3)]).toEqual([5, code])
})

test('a SOCKS5 client that requires authentication is refused, and half a greeting does no harm', async () => {
  const { port } = await openProxy(['site.test'])
  expect((await exchange(port, Buffer.from([5, 1, 2]))).codePointAt(0)).toBe(5)
  expect(await exchange(port, Buffer.from([5]), true)).toBe('')
  expect(statusOf(await exchange(port, 'CONNECT evil.test:1 HTTP/1.1\r\n\r\n'))).toBe(403)
})

test('an allowed host that is down, or has no address, gives "bad gateway" with the reason, and no denial', async () => {
  const closed = createServer()
  const site = await listen(closed)
  closed.close()
  const { port, session } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }, 'absent.test'], {
    'site.test': ['127.0.0.1'],
  })
  expect(await exchange(port, `CONNECT site.test:${site} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1.1 502 [^]*ECONNREFUSED/)
  expect(await exchange(port, 'CONNECT absent.test:80 HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1.1 502 [^]*ENOTFOUND/)
  expect(session.end()).toEqual([])
})

test('the end of a session ends its tunnels, on both sides, and its port', async () => {
  const far: Socket[] = []
  const site = await listen(createServer((socket) => void far.push(socket.on('error', () => undefined))))
  const { port, session } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], {
    'site.test': ['127.0.0.1'],
  })
  const near = connect(port, '127.0.0.1')
  near.on('error', () => undefined)
  near.write(`CONNECT site.test:${site} HTTP/1.1\r\n\r\n`)
  await once(near, 'data')
  const closed = [once(near, 'close'), ...far.map((socket) => once(socket.resume(), 'close'))]
  expect(closed).toHaveLength(2)
  session.end()
  await Promise.all(closed)
  await expect(once(connect(port, '127.0.0.1'), 'connect')).rejects.toThrow(/ECONNREFUSED/)
})

test('a name that resolves to a public address first and then to loopback is refused the second time', async () => {
  const answers = ['192.0.2.1', '127.0.0.1']
  const proxy = createProxy(['site.test'], { resolve: async () => [answers.shift() ?? '127.0.0.1'] })
  const session = proxy.startSession()
  const port = await listen(createServer(), (server) => session.attach(server))
  for (const address of ['192.0.2.1', '127.0.0.1']) {
    expect(await exchange(port, 'CONNECT site.test:80 HTTP/1.1\r\n\r\n')).toMatch(`which is ${address} `)
  }
  expect(session.end()).toHaveLength(2)
})

test('a side that ends early still gets the answer', async () => {
  const site = await openSite()
  const { port } = await openProxy([{ host: `site.test:${site}`, allowPrivate: true }], { 'site.test': ['127.0.0.1'] })
  const get = `GET / HTTP/1.1\r\nHost: site.test\r\nConnection: close\r\n\r\n`
  expect(await exchange(port, `CONNECT site.test:${site} HTTP/1.1\r\n\r\n${get}`, true)).toContain('x-site')
})

const greeting = Buffer.from([5, 1, 0])

function socksTo(host: string, port: number): Uint8Array {
  const name = Buffer.from(host, 'latin1')
  return Buffer.concat([Buffer.from([5, 1, 0, 3, name.length]), name, Buffer.from([port >> 8, port & 255])])
}
