import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import process from 'node:process'
import { expect, onTestFinished, test as plain } from 'vitest'
import {
  openSandbox,
  parsePolicy,
  SandboxError,
  type NetworkDecision,
  type SandboxOptions,
  type SandboxPolicyInput,
} from '../../../sandbox/index.ts'
import { describeInBoth } from '../both-backends.ts'
import { image } from '../docker-image.ts'
import { closeLater, eventually, run, temporaryDirectory } from '../helpers.ts'

type Connection = Parameters<NonNullable<NonNullable<SandboxOptions['network']>['onConnection']>>[0]

/** Starts a server on a port of this machine's loopback interface. */
async function listening(server: Server, host = '127.0.0.1', at = 0): Promise<number> {
  server.listen(at, host)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

/** A server that says its name and ends the connection. */
const named = (name: string, host?: string, at?: number): Promise<number> =>
  listening(
    createServer((socket) => socket.on('error', () => undefined).end(name)),
    host,
    at,
  )

const node = `"${process.execPath}" -e`

/** A command that prints what a server says, or the error. */
const ask = (port: number, host = '127.0.0.1'): string =>
  `${node} "require('net').connect(${port}, '${host}').on('error', (e) => console.log(e.code)).on('data', (d) => console.log('' + d))"`

/** A command that prints the ports of its loopback interface to which it can connect. */
const scan = `${node} "
  const net = require('net'), open = new Set()
  let next = 1, running = 0
  const more = () => {
    while (running < 200 && next < 65536) {
      const port = next++, host = port % 2 ? '127.0.0.1' : '::1'
      running++
      const socket = net.connect(port, host)
      // A port in the system's own range may happen to be the socket's own, to which it then connects.
      socket.on('connect', () => (socket.localPort === port || open.add(port), socket.destroy()))
      socket.on('error', () => undefined)
      socket.on('close', () => (running--, more()))
    }
    if (running === 0 && next === 65536) (next++, console.log([...open].join()))
  }
  more()"`

describeInBoth('services in %s', ({ backend, test, readableRoots }) => {
  async function openWith(
    services: SandboxPolicyInput['services'],
    more: Partial<SandboxPolicyInput> = {},
    network: SandboxOptions['network'] = {},
  ) {
    const [connections, decisions]: [Connection[], NetworkDecision[]] = [[], []]
    const policy = { mode: 'workspace-write', workspace: await temporaryDirectory(), readableRoots, services } as const
    const sandbox = await openSandbox(parsePolicy({ ...policy, ...more }), {
      backend,
      image,
      network: {
        onConnection: (connection) => connections.push(connection),
        onDecision: (decision) => decisions.push(decision),
        ...network,
      },
    })
    return { sandbox: closeLater(sandbox), connections, decisions }
  }

  test('localhost and the name lead to the service, and each connection is reported with its bytes', async () => {
    const port = await named('hello')
    const { sandbox, connections } = await openWith([`db=localhost:${port}`])
    const hosts = ['127.0.0.1', '::1', 'localhost', 'db', 'DB']
    const { stdout, stderr } = await run(sandbox, hosts.map((host) => ask(port, host)).join('\n'))
    expect([stdout, stderr]).toEqual(['hello\n'.repeat(hosts.length), ''])
    expect(connections).toEqual(
      hosts.map(() => ({
        ...{ name: 'db', host: 'localhost', port },
        sent: 0,
        received: 5,
        durationMs: expect.any(Number),
        failure: undefined,
      })),
    )
  })

  test('bytes pass unchanged both ways, and an end of input is no end of output', async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const got: Buffer[] = []
      socket.on('data', (data: Buffer) => got.push(data))
      socket.on('end', () => socket.end(Buffer.concat(got).reverse()))
    })
    const port = await listening(server)
    const { sandbox, connections } = await openWith([`localhost:${port}`])
    const script = `${node} "
      const sent = require('crypto').randomBytes(3_000_000), got = []
      const socket = require('net').connect({ port: ${port}, host: '127.0.0.1', allowHalfOpen: true })
      socket.end(sent)
      socket.on('data', (data: Buffer) => got.push(data))
      socket.on('end', () => console.log(Buffer.concat(got).equals(Buffer.from(sent).reverse())))"`
    expect(await run(sandbox, script)).toMatchObject({ stdout: 'true\n', stderr: '' })
    expect(connections).toMatchObject([{ sent: 3_000_000, received: 3_000_000 }])
  })

  test('a scan finds exactly the named ports', async () => {
    const [one, two] = [await named('one'), await named('two', '::1')]
    await named('other')
    const network: SandboxPolicyInput['network'] = { mode: 'allowlist', allow: ['example.test'] }
    const { sandbox } = await openWith([`localhost:${one}`, `two=[::1]:${two}`], { network })
    const found = (await run(sandbox, scan)).stdout.trim().split(',').map(Number)
    expect(new Set(found)).toEqual(new Set([3128, one, two]))
  }, 120_000)

  test('the proxy leads to no service, and a service to no other host', async () => {
    const [port, other] = [await named('service'), await named('other')]
    const network: SandboxPolicyInput['network'] = { mode: 'allowlist', allow: ['example.test'] }
    const { sandbox, decisions } = await openWith([`db=localhost:${port}`], { network })
    const through = (target: string, at = 3128): string =>
      `${node} "const s = require('net').connect(${at}, '127.0.0.1', () => s.write('CONNECT ${target} HTTP/1.1\\r\\n\\r\\n')); s.on('error', (e) => console.log(e.code)).on('data', (d) => console.log(('' + d).split('\\r\\n')[0]))"`
    const script = [`localhost:${port}`, `db:${port}`, `127.0.0.1:${port}`].map((target) => through(target))
    const { stdout } = await run(sandbox, [...script, through(`localhost:${other}`, port)].join('\n'))
    expect(stdout).toBe(`${'HTTP/1.1 403 Forbidden\n'.repeat(3)}service\n`)
    expect(decisions.filter(({ verdict }) => verdict === 'allowed')).toMatchObject([{ via: 'service', port }])
  })

  test('a port below 1024 works, and a service that does not answer resets the connection', async () => {
    const { sandbox, connections } = await openWith(['localhost:79'])
    const { stdout, result } = await run(sandbox, ask(79))
    expect(stdout).toMatch(/^ECONN(?:REFUSED|RESET)\n$/)
    expect(result.denials).toEqual([])
    expect(connections).toMatchObject([{ host: 'localhost', port: 79, failure: 'localhost:79: ECONNREFUSED' }])
  })

  test('a rule that forbids the host forbids the service', async () => {
    const port = await named('hello')
    const forbids = (host: string): string | undefined => (host === 'localhost' ? 'a rule says so' : undefined)
    const { sandbox } = await openWith([`localhost:${port}`], {}, { forbids })
    const { stdout, result } = await run(sandbox, ask(port))
    expect(stdout).not.toContain('hello')
    expect(result.denials).toMatchObject([{ kind: 'host', subject: `localhost:${port}`, rule: 'a rule says so' }])
  })

  test('a name is resolved once, and all its addresses are tried', async () => {
    const port = await named('hello', '127.0.0.2')
    const asked: string[] = []
    const resolve = async (name: string) => {
      asked.push(name)
      return ['127.0.0.3', '127.0.0.2']
    }
    const { sandbox } = await openWith([`db.example:${port}`, 'db.example:79'], {}, { resolve })
    const ran = await run(sandbox, [ask(port), ask(port)].join('\n'))
    expect(ran.stdout).toBe('hello\nhello\n')
    const again = closeLater(await openSandbox(sandbox.policy, { backend, image, network: { resolve } }))
    expect((await run(again, ask(port))).stdout).toBe('hello\n')
    expect(asked).toEqual(['db.example'])
  })

  test('commands that run together, or one after the other, each have the port', async () => {
    const port = await named('hello')
    const { sandbox } = await openWith([`localhost:${port}`])
    const all = await Promise.all([1, 2, 3].map(() => run(sandbox, ask(port))))
    expect(all.map(({ stdout }) => stdout)).toEqual(['hello\n', 'hello\n', 'hello\n'])
    expect((await run(sandbox, ask(port))).stdout).toBe('hello\n')
  })

  test('a command can’t take the port of a service, and one that does not read ends all the same', async () => {
    const flood = createServer((socket) => {
      socket.on('error', () => undefined)
      const write = (): void => void (socket.writable && socket.write(Buffer.alloc(1 << 16), write))
      write()
    })
    const port = await listening(flood)
    const { sandbox, connections } = await openWith([`localhost:${port}`])
    const take = `${node} "require('net').createServer().on('error', (e) => console.log(e.code)).listen({ port: ${port}, host: '127.0.0.1' })"`
    expect((await run(sandbox, take)).stdout).toBe('EADDRINUSE\n')
    const idle = `${node} "require('net').connect(${port}, '127.0.0.1', () => setTimeout(process.exit, 300))"`
    expect((await run(sandbox, idle)).result).toMatchObject({ status: 'exited', code: 0 })
    await eventually(async () => new Promise((done) => flood.getConnections((_, count) => done(count === 0))))
    expect(connections).toHaveLength(1)
  })

  test('the channels and the relay of the sockets are out of reach', async () => {
    const port = await named('hello')
    const { sandbox } = await openWith([`localhost:${port}`])
    const script = `ls -l /proc/self/fd | grep -c socket:
      ${node} "
        const { readdirSync, statSync } = require('fs'), at = '/dev/portcullis'
        const found = statSync(at).isDirectory() ? readdirSync(at, { recursive: true }).filter((name) => name.endsWith('proxy')) : []
        for (const name of ['/absent', ...found.map((name) => at + '/' + name)]) require('net').connect(name).on('error', ({ code }) => console.log(code)).on('connect', () => console.log('reached', name))"`
    const { stdout } = await run(sandbox, script)
    expect(stdout.trim().split('\n')).toEqual(['0', ...(backend === 'docker' ? ['EPERM', 'EPERM'] : ['EPERM'])])
  })

  test('curl speaks to a web server, past every proxy', async () => {
    const server = createHttp((message, response) => response.end(`${message.method} ${message.headers.host}`))
    const port = await listening(server)
    const { sandbox } = await openWith([`web.test=localhost:${port}`], {
      environment: { set: { HTTP_PROXY: 'http://192.0.2.1:1', http_proxy: 'http://192.0.2.1:1' } },
    })
    const { stdout, stderr } = await run(
      sandbox,
      `curl -sS -m 20 http://localhost:${port}/; curl -sS -m 20 http://web.test:${port}/; curl -sS -m 20 http://[::1]:${port}/`,
    )
    expect([stdout, stderr]).toEqual([`GET localhost:${port}GET web.test:${port}GET [::1]:${port}`, ''])
  })
})

plain.each([
  [['localhost'], /port/],
  [['localhost:0'], /port/],
  [['localhost:70000'], /port/],
  [['http://localhost:80'], /HOST:PORT/],
  [['=localhost:80'], /host name/],
  [['1.2.3.4=localhost:80'], /host name/],
  [['two words=localhost:80'], /host name/],
  [['a\nb=localhost:80'], /host name/],
  [['localhost=db.example:5432'], /another name than localhost/],
  [['a=localhost:80', 'b=localhost:80'], /two services at port 80/],
  [['a=localhost:80', 'A.=localhost:81'], /two services with the name a/],
  [['localhost:3128'], /proxy/],
  [Array.from({ length: 65 }, (_, index) => `localhost:${9000 + index}`), /more than 64/],
  [[{ name: 'a b', host: 'localhost', port: 80 }], /host name/],
  [[{ host: 'localhost', port: 80, addresses: ['elsewhere'] }], /invalid/i],
] satisfies (readonly [NonNullable<SandboxPolicyInput['services']>, RegExp])[])(
  'the services %j are refused',
  (services, why) => {
    expect(() => parsePolicy({ mode: 'read-only', workspace: '/', services })).toThrow(why)
  },
)

plain('services are refused where commands have the whole network', async () => {
  const [workspace, services] = ['/', ['localhost:5432']]
  const full = { mode: 'full' } as const
  expect(() => parsePolicy({ mode: 'read-only', workspace, services, network: full })).toThrow(/contradict/)
  const free = parsePolicy({ mode: 'danger-full-access', workspace: await temporaryDirectory(), services })
  await expect(openSandbox(free)).rejects.toThrow(/services/)
})

plain('a host that can’t be found is named before any command runs', async () => {
  const policy = { mode: 'read-only', workspace: await temporaryDirectory(), services: ['db.invalid:5432'] } as const
  const resolve = async () => Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' }))
  const opening = openSandbox(parsePolicy(policy), { network: { resolve } })
  await expect(opening).rejects.toSatisfy((error) => SandboxError.is(error, 'invalid-policy'))
  await expect(opening).rejects.toThrow('db.invalid:5432: must name a host that this machine knows (ENOTFOUND)')
})

plain.each([
  ['localhost:5432', 'localhost:5432'],
  ['LocalHost.:5432', 'localhost:5432'],
  ['localhost', 'localhost:PORT'],
  ['localhost:*', 'localhost:PORT'],
  ['app.localhost:3000', 'localhost:3000'],
  ['*.app.localhost:3000', 'localhost:3000'],
  ['127.0.0.1:5432', '127.0.0.1:5432'],
  ['127.8.9.10:5432', '127.8.9.10:5432'],
  ['[::1]:5432', '[::1]:5432'],
  ['[::ffff:127.0.0.1]:5432', '127.0.0.1:5432'],
  [{ host: 'localhost:5432', allowPrivate: true }, 'localhost:5432'],
] as const)('an allow-list that names %j is refused, with the service to name in its place', (entry, service) => {
  const network = { mode: 'allowlist', allow: [entry] } as const
  expect(() => parsePolicy({ mode: 'read-only', workspace: '/', network })).toThrow(`name ${service} in services`)
})
