import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, onTestFinished, test } from 'vitest'
import { sendByHttp } from '../../../engine/models/http-request.ts'
import { sendByFetch, type Answer } from '../../../engine/models/send-by-fetch.ts'

async function serve(respond: RequestListener, keepAliveTimeout = 5000): Promise<string> {
  const server = createServer({ keepAliveTimeout }, respond).listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const bodyOf = async ({ body }: Answer): Promise<string> => {
  const chunks: Uint8Array[] = []
  for (let step = await body.next(); step.done !== true; step = await body.next()) chunks.push(step.value)
  return Buffer.concat(chunks).toString()
}

const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"a":"ä"}' }
const echo = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const { method, headers } = request
  const text = (await buffer(request)).toString()
  response.end(JSON.stringify({ method, type: headers['content-type'], length: headers['content-length'], text }))
}

describe.each([
  ['node:http', sendByHttp],
  ['fetch', sendByFetch],
])('a request that is sent with %s', (_, send) => {
  test('arrives as it is, and its answer is returned with status and headers', async () => {
    const url = await serve((request, response) => {
      response.writeHead(418, 'Teapot', { 'X-Request-Id': 'r1', 'x-part': ['1', '2'] })
      void echo(request, response)
    })
    const answer = await send(`${url}/v1`, post)
    expect(answer).toMatchObject({ status: 418, statusText: 'Teapot', url: `${url}/v1` })
    expect(['x-request-id', 'X-REQUEST-ID', 'x-part', 'absent'].map((name) => answer.headers.get(name))).toEqual([
      'r1',
      'r1',
      '1, 2',
      null,
    ])
    const arrived = { method: 'POST', type: 'application/json', length: '10', text: '{"a":"ä"}' }
    expect(JSON.parse(await bodyOf(answer))).toEqual(arrived)
  })

  test('gives each part of the answer as soon as it arrives', async () => {
    let proceed = (): void => undefined
    const url = await serve((_request, response) => {
      response.write('first')
      proceed = () => response.end('second')
    })
    const { body } = await send(url)
    expect(Buffer.from((await body.next()).value ?? []).toString()).toBe('first')
    proceed()
    expect(Buffer.from((await body.next()).value ?? []).toString()).toBe('second')
    expect(await body.next()).toEqual({ done: true, value: undefined })
  })

  test('is followed to where the server redirects it', async () => {
    const url = await serve((request, response) => {
      if (request.url === '/old') response.writeHead(307, { location: '/new' }).end()
      else void echo(request, response)
    })
    expect(JSON.parse(await bodyOf(await send(`${url}/old`, post)))).toMatchObject({ method: 'POST', text: post.body })
  })

  test.each([
    ['gzip', gzipSync('packed')],
    ['X-GZIP', gzipSync('packed')],
    ['deflate', deflateSync('packed')],
    ['deflate', deflateRawSync('packed')],
    ['br', brotliCompressSync('packed')],
    ['zstd', zstdCompressSync('packed')],
    ['deflate, br,gzip', gzipSync(brotliCompressSync(deflateRawSync('packed')))],
    // A gzip stream without its last eight bytes: the checksum and the length.
    ['gzip', gzipSync('packed').subarray(0, -8)],
    ['none', Buffer.from('packed')],
    ['utf-8', Buffer.from('packed')],
    ['', Buffer.from('packed')],
  ])('has its answer decoded from %j', async (encoding, bytes) => {
    const url = await serve(async (_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding })
      for (const byte of bytes) {
        response.write(Buffer.of(byte))
        await sleep(1)
      }
      response.end()
    })
    expect(await bodyOf(await send(url))).toBe('packed')
  })

  test.each(['gzip', 'deflate', 'br'])('may have no answer that is encoded as %s', async (encoding) => {
    const url = await serve((request, response) => {
      response.writeHead(request.url === '/204' ? 204 : 200, { 'content-encoding': encoding }).end()
    })
    for (const path of ['/200', '/204']) expect(await bodyOf(await send(url + path))).toBe('')
  })

  test.each(['gzip,gzip,gzip,gzip,gzip,gzip', 'gzip'])('fails if its answer is not %s as it says', async (encoding) => {
    const url = await serve((_request, response) => {
      response.writeHead(200, { 'content-encoding': encoding }).end('plain')
    })
    await expect(send(url).then(bodyOf)).rejects.toThrow(TypeError)
  })

  test('sends headers as Latin-1', async () => {
    const url = await serve((request, response) => response.end(request.headers['x-name']))
    expect(await bodyOf(await send(url, { ...post, headers: { 'x-name': 'café' } }))).toBe('café')
  })

  test('ignores or refuses headers that describe the connection', async () => {
    const url = await serve((request, response) => response.end(request.headers.host))
    const host = new URL(url).host
    expect(await bodyOf(await send(url, { ...post, headers: { host: 'other.example' } }))).toBe(host)
    const wrong = { 'content-length': '300' }
    await expect(send(url, { ...post, headers: wrong })).rejects.toThrow(TypeError)
  })

  test('fails with an error that says what is wrong with the response', async () => {
    const url = await serve(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n')
    })
    const error: unknown = await send(url, post)
      .then(bodyOf)
      .catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ name: 'TypeError', cause: { message: expect.stringContaining('chunk size') } })
  })

  test('fails with a TypeError that names the cause if nothing listens', async () => {
    const url = await serve(() => undefined)
    const closed = url.replace(/\d+$/, '9')
    await expect(send(closed, post)).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', cause: expect.any(Error) }),
    )
  })

  test.each(['before the headers', 'in the body'])(
    'fails with a TypeError if the connection breaks %s',
    async (when) => {
      const url = await serve((_request, response) => {
        if (when === 'in the body') response.writeHead(200, { 'content-length': 100 }).write('part')
        setTimeout(() => response.destroy(), 50)
      })
      await expect(send(url, post).then(bodyOf)).rejects.toThrow(TypeError)
    },
  )

  test.each(['before the request', 'before the headers', 'in the body'])('can be aborted %s', async (when) => {
    const aborter = new AbortController()
    const url = await serve((_request, response) => {
      if (when === 'in the body') response.write('part')
      setTimeout(() => aborter.abort(), 50)
    })
    if (when === 'before the request') aborter.abort()
    const read = send(url, { ...post, signal: aborter.signal }).then(bodyOf)
    await expect(read).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
  })

  test('closes the connection if the answer is not read to its end', async () => {
    let closed: Promise<unknown> = Promise.resolve()
    const url = await serve((_request, response) => {
      closed = once(response, 'close')
      response.write('part')
    })
    const { body } = await send(url)
    await body.next()
    await body.return?.()
    await closed
  })

  test('can be given up before its answer is read, or while a part is awaited', async () => {
    const url = await serve((_request, response) => {
      response.write('part')
    })
    for (const parts of [0, 1]) {
      const { body } = await send(url)
      for (let read = 0; read < parts; read += 1) await body.next()
      const awaited = parts === 0 ? undefined : body.next()
      await body.return?.()
      expect(await (awaited ?? body.next())).toEqual({ done: true, value: undefined })
    }
  })

  test('arrives although the server has closed the connection of the request before it', async () => {
    const url = await serve(echo, 1)
    for (const pause of [0, 30, 1500, 0]) {
      await sleep(pause)
      expect(JSON.parse(await bodyOf(await send(url, post)))).toMatchObject({ text: post.body })
    }
  })

  test.each(['in the headers', 'after the headers', 'in the body'])(
    'fails with a TypeError, and is not sent again, if a kept connection is reset %s',
    async (when) => {
      let asked = 0
      const url = await serve((request, response) => {
        if (++asked === 1) return void response.end('whole')
        const head = 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n'
        const sent = { 'in the headers': head, 'after the headers': `${head}\r\n`, 'in the body': `${head}\r\npart` }
        request.socket.write(sent[when as keyof typeof sent])
        setTimeout(() => request.socket.resetAndDestroy(), 50)
      })
      expect(await bodyOf(await send(url, post))).toBe('whole')
      const aborter = new AbortController()
      const read = send(url, { ...post, signal: aborter.signal }).then(bodyOf)
      await expect(read).rejects.toThrow(expect.objectContaining({ name: 'TypeError', cause: expect.any(Error) }))
      // A second attempt would fail without an owner when its request is aborted. Vitest reports an unhandled rejection as a failure.
      aborter.abort()
      await sleep(50)
      expect(asked).toBe(2)
    },
  )

  test('leaves its connection to the next one, although the end of its answer is not read', async () => {
    const ports = new Set<number | undefined>()
    const url = await serve((request, response) => {
      ports.add(request.socket.remotePort)
      response.end('x'.repeat(10_000))
    })
    for (const give of ['abort', 'return', 'abort']) {
      const aborter = new AbortController()
      const { body } = await send(url, { ...post, signal: aborter.signal })
      await body.next()
      if (give === 'abort') aborter.abort()
      else await body.return?.()
      if (give === 'abort') await expect(body.next()).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }))
      await sleep(50)
    }
    expect(ports.size).toBe(1)
  })

  test('is refused if a header contains a line break', async () => {
    const url = await serve(echo)
    await expect(send(url, { ...post, headers: { authorization: 'Bearer a\nb' } })).rejects.toThrow(TypeError)
  })
})

test('only requests that node:http can send are sent with it', async () => {
  const modes: unknown[] = []
  const url = await serve((request, response) => {
    modes.push(request.headers['sec-fetch-mode'])
    response.end()
  })
  for (const init of [post, { ...post, body: new TextEncoder().encode('{}') }, { ...post, redirect: 'error' as const }])
    await bodyOf(await sendByHttp(url, init))
  expect(modes).toEqual([undefined, 'cors', 'cors'])
})

test.each(['none', 'gzip', 'gzip,gzip,gzip,gzip,gzip,gzip'])(
  'the connection is closed if an answer with the encoding %s is given up',
  async (encoding) => {
    let closed: Promise<unknown> = Promise.resolve()
    const url = await serve((_request, response) => {
      closed = once(response, 'close')
      response.writeHead(200, { 'content-encoding': encoding }).write('plain')
    })
    // An answer with too many encodings is refused, so that the call rejects.
    await sendByHttp(url).then(
      ({ body }) => body.return?.(),
      () => undefined,
    )
    await closed
  },
)

test.each(['before the headers', 'in the body'])('an error says that the connection was closed %s', async (when) => {
  const url = await serve((_request, response) => {
    if (when === 'in the body') response.writeHead(200, { 'content-length': 100 }).write('part')
    setTimeout(() => response.destroy(), 50)
  })
  const error: unknown = await sendByHttp(url, post)
    .then(bodyOf)
    .catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ cause: { message: 'the server closed the connection' } })
})
