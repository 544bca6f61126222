import { createServer as createHttp2 } from 'node:http2'
import { createServer, request } from 'node:http'
import { connect, createServer as createTcp, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { exec, repository } from '../../support/workspace.ts'

/** Starts a proxy on loopback that sends requests for any host to the requested port on this machine, and records the requested hosts. */
async function startProxy(): Promise<{ readonly url: string; readonly asked: readonly string[] }> {
  const asked: string[] = []
  const server = createServer((incoming, outgoing) => {
    const { host, port, pathname } = new URL(incoming.url ?? '')
    asked.push(host)
    const { method, headers } = incoming
    incoming.pipe(
      request({ host: '127.0.0.1', port, path: pathname, method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      }),
    )
  })
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(url)
    const through = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection Established\r\n\r\n')
      socket.pipe(through).pipe(socket)
    })
    through.on('error', () => socket.destroy())
    socket.on('error', () => through.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked }
}

/** Runs the program with a base URL for the mock server. Only the proxy can reach the host that the URL names. */
async function runBehind(
  env: Readonly<Record<string, string>>,
  protocol = 'http',
  more: readonly string[] = [],
): Promise<{ code: number | null; stderr: string }> {
  return exec([[say('ok')]], ['-s', 'danger-full-access', '-c', 'request_max_retries=0', ...more, 'x'], {
    cwd: repository(),
    env,
    baseUrl: (url) => url.replace('http://127.0.0.1', `${protocol}://models.invalid`),
  })
}

test.each(['HTTP_PROXY', 'http_proxy'])('requests use the proxy of %s', async (name) => {
  const proxy = await startProxy()
  expect(await runBehind({ [name]: proxy.url })).toMatchObject({ code: 0 })
  expect(proxy.asked).toEqual([expect.stringMatching(/^models\.invalid:\d+$/)])
})

test.each(['HTTP_PROXY', 'HTTPS_PROXY'])('requests with https use the proxy of %s', async (name) => {
  const proxy = await startProxy()
  // The server behind the proxy doesn't speak TLS.
  expect(await runBehind({ [name]: proxy.url }, 'https')).toMatchObject({ code: 6 })
  expect(proxy.asked).toEqual([expect.stringMatching(/^models\.invalid:\d+$/)])
})

test.each(['models.invalid', 'invalid', 'other models.invalid'])(
  'requests to a host of NO_PROXY=%s do not',
  async (hosts) => {
    const proxy = await startProxy()
    const { code, stderr } = await runBehind({ HTTP_PROXY: proxy.url, NO_PROXY: hosts })
    expect(code).toBe(6)
    expect(stderr).toContain("can't be reached")
    expect(proxy.asked).toEqual([])
  },
)

test.each(['ftp://proxy.example:8080', 'http://user:pass-word@['])(
  'the invalid proxy %s is refused without quoting it',
  async (url) => {
    const { code, stderr } = await runBehind({ HTTP_PROXY: url })
    expect(code).toBe(2)
    expect(stderr).toContain('The proxy in HTTP_PROXY is not a URL such as http://proxy.example:8080 or')
    expect(stderr).not.toContain('pass-word')
  },
)

test.each(['HTTP_PROXY', 'ALL_PROXY', 'all_proxy'])('the proxy of %s needs no scheme', async (name) => {
  const proxy = await startProxy()
  expect(await runBehind({ [name]: proxy.url.replace('http://', '') })).toMatchObject({ code: 0 })
  expect(proxy.asked).toEqual([expect.stringMatching(/^models\.invalid:\d+$/)])
})

test('requests with https use the proxy of ALL_PROXY, before that of HTTP_PROXY', async () => {
  const proxy = await startProxy()
  expect(await runBehind({ ALL_PROXY: proxy.url, HTTP_PROXY: 'http://127.0.0.1:9' }, 'https')).toMatchObject({
    code: 6,
  })
  expect(proxy.asked).toHaveLength(1)
})

test('a SOCKS proxy of ALL_PROXY is used', async () => {
  const asked: string[] = []
  const server = createTcp((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () => {
      socket.write(Uint8Array.of(5, 0))
      socket.once('data', (request: Buffer) => {
        const length = request[4] ?? 0
        asked.push(request.subarray(5, 5 + length).toString())
        const through = connect(request.readUInt16BE(5 + length), '127.0.0.1', () => {
          socket.write(Uint8Array.of(5, 0, 0, 1, 0, 0, 0, 0, 0, 0))
          socket.pipe(through).pipe(socket)
        })
        through.on('error', () => socket.destroy())
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  expect(await runBehind({ ALL_PROXY: `socks5h://127.0.0.1:${port}` })).toMatchObject({ code: 0 })
  expect(asked).toEqual(['models.invalid'])
})

test.each(['127.0.0.0/8', '10.0.0.0/8,127.0.0.1/32', 'example.com, 127.0.0.0/16'])(
  'an address in the range %s of NO_PROXY is asked without the proxy',
  async (range) => {
    const proxy = await startProxy()
    const env = { HTTP_PROXY: proxy.url, NO_PROXY: range }
    const ended = await exec([[say('ok')]], ['-s', 'danger-full-access', 'x'], { cwd: repository(), env })
    expect([ended.code, proxy.asked]).toEqual([0, []])
  },
)

test.each(['http', 'https'])('a proxy that wants a password for %s is named, and asked once', async (protocol) => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.writeHead(407).end()
  })
  server.on('connect', (_, socket) => {
    asked++
    socket.end('HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ended = await runBehind({ ALL_PROXY: `127.0.0.1:${port}` }, protocol, ['-c', 'request_max_retries=1'])
  expect([ended.code, asked]).toEqual([6, 1])
  expect(ended.stderr).toContain(`the proxy http://127.0.0.1:${port} asks for a user and a password (407)`)
})

test.each([
  ['403 Blocked', 'refuses to connect to it (403). Allow it there, or name its host in NO_PROXY', 1],
  ['502 Bad Gateway', "can't connect to it (502) (gave up after 1 retry)", 2],
])('a proxy that answers %s is named', async (answer, says, times) => {
  let asked = 0
  const server = createServer().on('connect', (_, socket) => {
    asked++
    socket.end(`HTTP/1.1 ${answer}\r\ncontent-length: 0\r\n\r\n`)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const env = { HTTPS_PROXY: 'http://127.0.0.1:9', https_proxy: `http://me:pass-word@127.0.0.1:${port}` }
  const ended = await runBehind(env, 'https', ['-c', 'request_max_retries=1'])
  expect([ended.code, asked]).toEqual([6, times])
  expect(ended.stderr).toContain(`the proxy http://127.0.0.1:${port} (https_proxy) ${says}`)
  expect(ended.stderr).not.toContain('pass-word')
})

test('a SOCKS proxy that refuses is named, and asked once', async () => {
  let asked = 0
  const server = createTcp((socket) => {
    asked++
    socket.on('error', () => undefined)
    // No way of authentication is accepted.
    socket.once('data', () => socket.end(Uint8Array.of(5, 255)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ended = await runBehind({ ALL_PROXY: url }, 'https', ['-c', 'request_max_retries=1'])
  expect([ended.code, asked]).toEqual([6, 1])
  expect(ended.stderr).toContain(`the proxy ${url} (ALL_PROXY) refuses: `)
})

test('a SOCKS proxy that accepts connections and says nothing is named', async () => {
  const server = createTcp((socket) => void socket.on('error', () => undefined).resume())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `socks5://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ended = await runBehind({ ALL_PROXY: url }, 'https')
  expect(ended.code).toBe(6)
  expect(ended.stderr).toContain(`the proxy ${url} (ALL_PROXY) doesn't answer: `)
})

test('a proxy with https that is given by its address is named, and asked once', async () => {
  for (const protocol of ['http', 'https']) {
    const env = { ALL_PROXY: 'https://me:pass-word@127.0.0.1:9' }
    const ended = await runBehind(env, protocol, ['-c', 'request_max_retries=1'])
    expect(ended.code).toBe(6)
    expect(ended.stderr).toContain("the proxy https://127.0.0.1:9 (ALL_PROXY) can't be used, because")
    expect(ended.stderr).not.toMatch(/pass-word|retries|gave up/)
  }
})

test('a proxy that is down is called one', async () => {
  const ended = await runBehind({ HTTPS_PROXY: 'http://me:pass-word@127.0.0.1:9' }, 'https')
  expect(ended.code).toBe(6)
  expect(ended.stderr).toContain("the proxy http://127.0.0.1:9 (HTTPS_PROXY) doesn't answer: ")
  expect(ended.stderr).not.toContain('pass-word')
})

test.each([
  ['http://127.0.0.1:9', "doesn't answer: "],
  ['https://127.0.0.1:9', "can't be used, because"],
])('the proxy %s on the way to an MCP server is named too', async (url, says) => {
  const args = ['-s', 'danger-full-access', '-c', 'mcp_servers.far={url="http://mcp.invalid/mcp", required=true}', 'x']
  const env = { ALL_PROXY: url.replace('//', '//me:pass-word@'), NO_PROXY: '127.0.0.1' }
  const { stderr } = await exec([[say('never')]], args, { cwd: repository(), env })
  expect(stderr).toContain(`http://mcp.invalid/mcp can't be reached: the proxy ${url} (ALL_PROXY) ${says}`)
  expect(stderr).not.toContain('pass-word')
})

test('a model server that speaks only HTTP/2 is named as such, and asked once', async () => {
  let asked = 0
  const server = createHttp2().on('session', () => (asked += 1))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { code, events } = await exec([[say('never')]], ['--json', '-s', 'danger-full-access', 'x'], {
    cwd: repository(),
    baseUrl: () => `http://127.0.0.1:${port}`,
  })
  expect(code).toBe(6)
  expect(events.at(-1)).toMatchObject({ error: { message: expect.stringContaining('speaks only HTTP/2') as string } })
  expect(asked).toBe(1)
})
