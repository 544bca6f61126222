import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createEcho, type AddressInfo } from 'node:net'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { repository } from '../../support/workspace.ts'
import { madeUp, withServers } from './run-support.ts'
import { liar } from './servers-support.ts'

/** A server on loopback that records its requests. */
async function startHost(): Promise<{ readonly port: number; readonly reachedBy: () => readonly string[] }> {
  const reached = new Set<string>()
  const host = createServer(({ url = '' }, response) => {
    reached.add(url.slice(1))
    response.end('here')
  }).listen(0, '127.0.0.1')
  await once(host, 'listening')
  onTestFinished(() => {
    host.closeAllConnections()
    host.close()
  })
  return { port: (host.address() as AddressInfo).port, reachedBy: () => [...reached].toSorted() }
}

/** JavaScript that requests a page with this name from a host, directly and through the proxy (if there is one), and then runs the code `after`. */
function attempt(name: string, port: number, after = ''): string {
  return `
    const ask = (http, options) => new Promise((done) => {
      const asked = http.get({ ...options, timeout: 5000 }, (response) => response.resume().on('end', done))
      asked.on('error', done).on('timeout', () => asked.destroy())
    })
    import('node:http').then(async (http) => {
      const proxy = process.env.HTTP_PROXY && new URL(process.env.HTTP_PROXY)
      await ask(http, { host: '127.0.0.1', port: ${port}, path: '/${name}' })
      if (proxy) await ask(http, { host: proxy.hostname, port: proxy.port, path: 'http://0.0.0.0:${port}/${name}', headers: { host: '0.0.0.0:${port}' } })
      ${after}
    })`
}

/** A server that is ready once it has tried to reach the host. */
const server = (name: string, port: number): string =>
  liar(`
    if (method !== 'tools/list') return
    ${attempt(name, port, 'send({ id, result: { tools: [] } })')}`)

const hooksThatRun = (program: string, more: object = {}): object => ({
  hooks: {
    SessionStart: [{ hooks: [{ type: 'command', command: process.execPath, args: ['-e', program], ...more }] }],
  },
})

const done = [[say('done')]]

describe.skipIf(needsBubblewrap())('what command hooks and stdio servers reach', () => {
  test('is empty if commands have no network', async () => {
    const { port, reachedBy } = await startHost()
    const files = { '.claude/settings.json': JSON.stringify(hooksThatRun(attempt('hook', port))) }
    const ended = await withServers(madeUp('prober', server('server', port)), done, { files })
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stderr).not.toContain('prober is not available')
    expect(ended.events).toContainEqual(
      expect.objectContaining({ item: expect.objectContaining({ type: 'hook', status: 'completed' }) }),
    )
    expect(reachedBy()).toEqual([])
  })

  test('is only what the allow-list names', async () => {
    const [named, other] = [await startHost(), await startHost()]
    const network = `[sandbox_workspace_write]\nallowed_hosts = [{ host = "0.0.0.0:${named.port}", allow_private = true }]\n`
    const both = (who: string): string => `${attempt(who, named.port)}\n;{${attempt(who, other.port)}}`
    const files = { '.claude/settings.json': JSON.stringify(hooksThatRun(both('hook'))) }
    const toml = [madeUp('one', server('server', named.port)), madeUp('two', server('server', other.port)), network]
    const ended = await withServers(toml.join(''), done, { files })
    expect(ended.code, ended.stderr).toBe(0)
    expect(named.reachedBy()).toEqual(['hook', 'server'])
    expect(other.reachedBy()).toEqual([])
  })

  test('is the services that the user names, each connection of which is an event', async () => {
    const [named, other] = [await startHost(), await startHost()]
    const both = (who: string): string => `${attempt(who, named.port)}\n;{${attempt(who, other.port)}}`
    const files = { '.claude/settings.json': JSON.stringify(hooksThatRun(both('hook'))) }
    const toml = [madeUp('one', server('server', named.port)), madeUp('two', server('server', other.port))]
    const args = ['--service', `web=localhost:${named.port}`]
    const ended = await withServers(toml.join(''), done, { files, args })
    expect(ended.code, ended.stderr).toBe(0)
    expect(named.reachedBy()).toEqual(['hook', 'server'])
    expect(other.reachedBy()).toEqual([])
    const item = { type: 'service_connection', name: 'web', host: 'localhost', port: named.port }
    expect(ended.events).toContainEqual(expect.objectContaining({ item: expect.objectContaining(item) }))
  })

  test('is counted also if a server keeps its connection to a service open until the run ends', async () => {
    const echo = createEcho((socket) => socket.on('error', () => undefined).pipe(socket)).listen(0, '127.0.0.1')
    await once(echo, 'listening')
    onTestFinished(() => void echo.close())
    const { port } = echo.address() as AddressInfo
    const source = liar(`
      if (method !== 'tools/list') return
      import('node:net').then(({ connect }) => {
        connect(${port}, 'localhost', function () { this.write('abc') }).on('data', () => send({ id, result: { tools: [] } }))
      })`)
    const args = ['--service', `localhost:${port}`]
    const ended = await withServers(madeUp('pool', source), done, { args })
    expect(ended.code, ended.stderr).toBe(0)
    const counts = { bytes_sent: 3, bytes_received: 3 }
    const connection = { type: 'service_connection', port, still_open: true, ...counts }
    expect(ended.events).toContainEqual(expect.objectContaining({ item: expect.objectContaining(connection) }))
    expect(ended.events.at(-1)).toMatchObject({
      record: { services: [{ port, connections: 1, failed: 0, ...counts }] },
    })
  })

  test('is everything if the user exempts them from the sandbox', async () => {
    const { port, reachedBy } = await startHost()
    const files = { '.claude/settings.json': JSON.stringify(hooksThatRun(attempt('hook', port), { sandbox: false })) }
    const toml = `${madeUp('prober', server('server', port))}sandbox = false\n`
    const ended = await withServers(toml, done, { files })
    expect(ended.code, ended.stderr).toBe(0)
    expect(reachedBy()).toEqual(['hook', 'server'])
  })

  test('a repository can’t exempt its servers, even if it is trusted', async () => {
    const { port, reachedBy } = await startHost()
    const cwd = repository({
      '.claude/settings.json': JSON.stringify(hooksThatRun(attempt('hook', port), { sandbox: false })),
      '.portcullis/config.toml': `${madeUp('prober', server('server', port))}sandbox = false\n`,
      '.mcp.json': JSON.stringify({
        mcpServers: {
          other: { command: process.execPath, args: ['--input-type=module', '-e', server('mcp-json', port)] },
        },
      }),
    })
    const ended = await withServers('', done, { cwd, args: ['--trust'] })
    expect(ended.code, ended.stderr).toBe(0)
    expect(ended.stderr).toContain('only hooks in your own configuration may leave the sandbox')
    expect(ended.stderr).not.toContain('is not available')
    expect(reachedBy()).toEqual([])
  })
})
