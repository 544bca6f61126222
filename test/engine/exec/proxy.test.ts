import { createServer, request } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
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
): Promise<{ code: number | null; stderr: string }> {
  return exec([[say('ok')]], ['-s', 'danger-full-access', '-c', 'request_max_retries=0', 'x'], {
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

test.each(['proxy.example:8080', 'http://user:pass-word@['])(
  'the invalid proxy %s is refused without quoting it',
  async (url) => {
    const { code, stderr } = await runBehind({ HTTP_PROXY: url })
    expect(code).toBe(2)
    expect(stderr).toContain('The proxy in HTTP_PROXY is not a URL such as http://proxy.example:8080.')
    expect(stderr).not.toContain('pass-word')
  },
)
