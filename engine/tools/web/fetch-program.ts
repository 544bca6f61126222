/**
 * The request, which is the first line of the program's standard input. `direct`: the program connects without a proxy, once the engine has approved the host's
 * addresses. `limit`: the maximum size of the body, in bytes.
 */
export type FetchRequest = { readonly url: string; readonly direct: boolean; readonly limit: number }

/** The messages that the program writes to its standard output, each as one line of JSON. */
export type FetchMessage =
  /** Asks whether the program may connect to a host with these addresses. The program continues when it receives the line `go`. */
  | { readonly kind: 'addresses'; readonly addresses: readonly string[] }
  | { readonly kind: 'redirect'; readonly status: number; readonly location: string }
  /** The last message if the request succeeds; the body follows it. `more`: the body was cut off, because it is larger than the request's `limit`. */
  | { readonly kind: 'answer'; readonly status: number; readonly type: string; readonly more: boolean }
  | { readonly kind: 'failed'; readonly message: string }

/** Returns the program that makes one request in the sandbox. Node receives the program as text, so its functions may use only each other. */
export function fetchProgram(): string {
  return [connectDirectly, connectThroughProxy, requestPage, fetchPage]
    .map(String)
    .concat(`${fetchPage.name}()`)
    .join('\n')
}

async function fetchPage(): Promise<void> {
  const lines = process
    .getBuiltinModule('node:readline')
    .createInterface({ input: process.stdin })
    [Symbol.asyncIterator]()
  const hear = async (): Promise<string> => String((await lines.next()).value)
  const say = (message: FetchMessage): void => void process.stdout.write(`${JSON.stringify(message)}\n`)
  const { url: text, direct, limit } = JSON.parse(await hear()) as FetchRequest
  try {
    const url = new URL(text)
    const host = url.hostname.replace(/^\[|\]$/g, '')
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
    const agree = async (addresses: readonly string[]): Promise<void> => {
      say({ kind: 'addresses', addresses })
      if ((await hear()) !== 'go') process.exit()
    }
    const socket = await (direct ? connectDirectly(host, port, agree) : connectThroughProxy(url.hostname, port))
    const body = await requestPage(url, socket, limit, say)
    process.stdout.write(body, () => process.exit())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    say({ kind: 'failed', message: message || String(code) })
    process.stdout.write('', () => process.exit())
  }
}

/** Connects only to the approved addresses: the name is not resolved a second time. */
async function connectDirectly(
  host: string,
  port: number,
  agree: (addresses: readonly string[]) => Promise<void>,
): Promise<import('node:net').Socket> {
  const net = process.getBuiltinModule('node:net')
  const { lookup } = process.getBuiltinModule('node:dns/promises')
  const family = net.isIP(host)
  const found = family === 0 ? await lookup(host, { all: true }) : [{ address: host, family }]
  await agree(found.map(({ address }) => address))
  return net.connect({
    host: 'checked.invalid',
    port,
    autoSelectFamily: true,
    lookup: (_name, _options, done) => done(null, found),
  })
}

/** Connects through the sandbox's own proxy, whose address is in the environment. */
function connectThroughProxy(hostname: string, port: number): Promise<import('node:net').Socket> {
  const http = process.getBuiltinModule('node:http')
  const proxy = new URL(process.env['HTTPS_PROXY'] ?? process.env['HTTP_PROXY'] ?? '')
  const path = `${hostname}:${port}`
  const asked = {
    host: proxy.hostname,
    port: proxy.port,
    method: 'CONNECT',
    path,
    headers: { host: path },
    agent: false,
  }
  return new Promise((resolve, reject) => {
    http
      .request(asked)
      .on('error', reject)
      .on('connect', (answer, socket, head: Buffer) => {
        if (answer.statusCode === 200) resolve(socket as import('node:net').Socket)
        else reject(new Error(head.toString().trim() || `the proxy answered ${answer.statusCode}`))
      })
      .end()
  })
}

/** Requests the page. Reports its headers first and then returns its body, which is empty for a redirect. */
async function requestPage(
  url: URL,
  socket: import('node:net').Socket,
  limit: number,
  say: (message: FetchMessage) => void,
): Promise<Buffer> {
  const http = process.getBuiltinModule('node:http')
  const zlib = process.getBuiltinModule('node:zlib')
  const { isIP } = process.getBuiltinModule('node:net')
  const { connect } = process.getBuiltinModule('node:tls')
  const { pipeline } = process.getBuiltinModule('node:stream')
  const name = isIP(url.hostname.replace(/^\[|\]$/g, '')) === 0 ? { servername: url.hostname } : {}
  const connection = url.protocol === 'https:' ? connect({ socket, ...name, ALPNProtocols: ['http/1.1'] }) : socket
  const headers = {
    host: url.host,
    'user-agent': 'portcullis-web-fetch',
    accept: 'text/markdown, text/html;q=0.9, text/*;q=0.8, */*;q=0.5',
    'accept-encoding': 'gzip, deflate, br',
    connection: 'close',
  }
  const asked = { path: url.pathname + url.search, headers, createConnection: () => connection }
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    connection.on('error', reject)
    socket.on('error', reject)
    http.request(asked).on('error', reject).on('response', resolve).end()
  })
  const { statusCode: status = 0, headers: given } = answer
  if (status >= 300 && status < 400 && given.location !== undefined) {
    say({ kind: 'redirect', status, location: given.location })
    return Buffer.alloc(0)
  }
  const unpack = { gzip: zlib.createGunzip, deflate: zlib.createInflate, br: zlib.createBrotliDecompress }
  const packed = unpack[(given['content-encoding'] ?? '').toLowerCase() as keyof typeof unpack]
  const stream = packed === undefined ? answer : pipeline(answer, packed(), () => undefined)
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk as Buffer)
    size += (chunk as Buffer).length
    if (size > limit) break
  }
  say({ kind: 'answer', status, type: given['content-type'] ?? '', more: size > limit })
  return Buffer.concat(chunks).subarray(0, limit)
}
