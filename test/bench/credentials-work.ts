/**
 * One process of the benchmark of credentials: `credentials-work.ts site|proxy|client SETTINGS`. A site and a proxy print their port; a proxy then answers
 * each line of its input with its memory. A client prints what it measured.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent as PlainAgent, get as plainGet, type IncomingMessage } from 'node:http'
import { Agent, createServer, get } from 'node:https'
import { createServer as createListener, type AddressInfo, type Server } from 'node:net'
import process from 'node:process'
import { setDefaultCACertificates } from 'node:tls'
import { createProxy } from '../../sandbox/network/proxy.ts'

/** What a process is told. */
export type WorkSettings = {
  readonly ca: string
  readonly key: string
  readonly cert: string
  readonly site: number
  readonly proxy: number
  /** Whether the proxy adds a credential; otherwise it is a tunnel. */
  readonly adds: boolean
  readonly requests: number
  readonly bytes: number
  readonly type: string
}

/** What a client measured, in milliseconds: the first request, the median of the others, and a download. */
export type Measured = { readonly first: number; readonly median: number; readonly download: number }

const settings = JSON.parse(process.argv[3] ?? '{}') as WorkSettings
setDefaultCACertificates([readFileSync(settings.ca, 'utf8')])
const tell = (value: unknown): boolean => process.stdout.write(`${JSON.stringify(value)}\n`)

const portOf = (server: Server): number => (server.address() as AddressInfo).port

async function site(): Promise<void> {
  const piece = Buffer.from('A line of a file, such as a server sends.\n'.repeat(1560))
  const server = createServer({ key: settings.key, cert: settings.cert }, (message, response) => {
    if (message.url !== '/large') return void response.end('{"ok":true}')
    response.writeHead(200, { 'content-type': settings.type, 'content-length': settings.bytes })
    let left = settings.bytes
    const fill = (): void => {
      while (left > 0) {
        const next = left < piece.length ? piece.subarray(0, left) : piece
        left -= next.length
        if (!response.write(next)) return void response.once('drain', fill)
      }
      response.end()
    }
    fill()
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  tell(portOf(server))
}

async function proxy(): Promise<void> {
  const { site: port, adds } = settings
  const credential = { name: 'app', hosts: [`api.test:${port}`], as: 'bearer', allow: ['GET /**'] } as const
  const made = createProxy(
    adds ? [] : [{ host: `api.test:${port}`, allowPrivate: true }],
    { secretOf: () => 'a-value-of-a-credential-which-is-not-sent', resolve: async () => ['127.0.0.1'] },
    [],
    adds ? [credential] : [],
  )
  const server = createListener()
  made.startSession().attach(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  tell(portOf(server))
  process.stdin.on('data', () => tell(process.memoryUsage().rss / 1024 ** 2))
}

async function client(): Promise<void> {
  const [url, own] = [`http://127.0.0.1:${settings.proxy}`, `api.test:${settings.site}`]
  const options = { keepAlive: true, maxSockets: 1, proxyEnv: { HTTP_PROXY: url, HTTPS_PROXY: url } }
  const [plain, secure] = [new PlainAgent(options), new Agent(options)]
  const ask = async (path: string): Promise<number> => {
    const began = performance.now()
    const request = settings.adds
      ? plainGet(`http://${own}${path}`, { agent: plain })
      : get(`https://${own}${path}`, { agent: secure })
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    if (answer.statusCode !== 200) throw new Error(`status ${answer.statusCode}`)
    let length = 0
    for await (const chunk of answer) length += (chunk as Buffer).length
    if (path === '/large' && length !== settings.bytes) throw new Error(`${length} bytes`)
    return performance.now() - began
  }
  const first = await ask('/small')
  const others: number[] = []
  for (let at = 0; at < settings.requests; at++) others.push(await ask('/small'))
  const download = await ask('/large')
  const median = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? 0
  tell({ first, median, download } satisfies Measured)
  plain.destroy()
  secure.destroy()
}

const kinds: Readonly<Record<string, () => Promise<void>>> = { site, proxy, client }
await kinds[process.argv[2] ?? '']?.()
