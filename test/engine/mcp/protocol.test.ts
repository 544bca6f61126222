import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { McpProgress } from '../../../engine/mcp/connection.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { liar, nodeServer, reference, server, start, testWith } from './servers-support.ts'
import { startWebSocketServer } from './websocket-server.ts'

const signal = new AbortController().signal
/** Code with which a fake server lists its only tool, `name`. */
const lists = (name: string): string =>
  `if (method === 'tools/list') return send({ id, result: { tools: [{ name: '${name}', inputSchema: { type: 'object' } }] } })\n`
/** Changes a fake server so that it records in the file `notes` every notification that it receives. */
const noting = (source: string): string =>
  source
    .replace('import { createInterface }', "import { appendFileSync } from 'node:fs'\n    import { createInterface }")
    .replace('if (id === undefined) return', "if (id === undefined) return appendFileSync('notes', line + '\\n')")

describe.skipIf(needsBubblewrap())('what a server may ask of us', () => {
  testWith('everything')('it gets the path of the workspace', async () => {
    const workspace = tempDir()
    const servers = await start([nodeServer('everything', { file: reference('everything') })], { workspace })
    const { text } = await servers.call('everything', 'get-roots-list', {}, signal)
    expect(text).toContain(`file://${workspace}`)
  })

  test('its request to fill in a form is declined, and the call continues', async () => {
    const source = liar(`
      ${lists('ask')}
      globalThis.asked = id
      send({ id: 'form', method: 'elicitation/create', params: { message: 'your name?', requestedSchema: { type: 'object', properties: {} } } })`).replace(
      'if (id === undefined) return',
      `
      if (id === 'form') return send({ id: globalThis.asked, result: { content: [{ type: 'text', text: 'told: ' + JSON.parse(line).result.action }] } })
      if (id === undefined) return`,
    )
    const servers = await start([nodeServer('asking', { source })])
    expect((await servers.call('asking', 'ask', {}, signal)).text).toBe('told: decline')
  })

  test('its requests for anything not offered, such as our model, are refused', async () => {
    const source = liar(`
      ${lists('ask')}
      globalThis.asked = id
      send({ id: 'sample', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } })`).replace(
      'if (id === undefined) return',
      `
      if (id === 'sample') return send({ id: globalThis.asked, result: { content: [{ type: 'text', text: 'told: ' + JSON.parse(line).error.code }] } })
      if (id === undefined) return`,
    )
    const servers = await start([nodeServer('asking', { source })])
    expect((await servers.call('asking', 'ask', {}, signal)).text).toBe('told: -32601')
  })
})

describe.skipIf(needsBubblewrap())('a call that takes long', () => {
  testWith('everything')('is reported as it progresses', async () => {
    const servers = await start([nodeServer('everything', { file: reference('everything') })])
    const told: McpProgress[] = []
    const work = { duration: 0.5, steps: 5 }
    await servers.call('everything', 'trigger-long-running-operation', work, signal, (progress) => told.push(progress))
    // Only the first can't come too late to be told, on a slow machine.
    expect(told.map(({ progress, total }) => [progress, total])).toContainEqual([1, 5])
  })

  test('may take longer than its limit while it reports progress', async () => {
    const source = liar(`
      ${lists('work')}
      let step = 0
      const token = params._meta.progressToken
      const timer = setInterval(() => {
        if (step++ < 12) return send({ method: 'notifications/progress', params: { progressToken: token, progress: step } })
        clearInterval(timer)
        send({ id, result: { content: [{ type: 'text', text: 'at last' }] } })
      }, 200)`)
    const servers = await start([nodeServer('slow', { source }, [], { toolTimeoutMs: 1500 })])
    expect((await servers.call('slow', 'work', {}, signal)).text).toBe('at last')
  })

  test('and reports no progress is given up, and the server is told to stop', async () => {
    const workspace = tempDir()
    const source = noting(liar(lists('hang')))
    const servers = await start([nodeServer('hanging', { source }, [], { toolTimeoutMs: 300 })], { workspace })
    await expect(servers.call('hanging', 'hang', {}, signal)).rejects.toThrow(/timed out/i)
    await vi.waitFor(() => expect(readFileSync(join(workspace, 'notes'), 'utf8')).toContain('notifications/cancelled'))
  })

  test('is cancelled at the server when the run gives it up', async () => {
    const workspace = tempDir()
    const source = noting(liar(`${lists('hang')} appendFileSync('notes', 'called')`))
    const servers = await start([nodeServer('hanging', { source })], { workspace })
    const notes = (): string => readFileSync(join(workspace, 'notes'), 'utf8')
    const controller = new AbortController()
    const call = servers.call('hanging', 'hang', {}, controller.signal)
    await vi.waitFor(() => expect(notes()).toContain('called'))
    controller.abort('interrupted')
    await expect(call).rejects.toThrow()
    await vi.waitFor(() => expect(notes()).toContain('notifications/cancelled'))
  })
})

describe.skipIf(needsBubblewrap())('a server over a WebSocket', () => {
  const speaks = () =>
    startWebSocketServer(({ id, method }, send) => {
      if (method === 'initialize') {
        const result = {
          protocolVersion: '2025-06-18',
          serverInfo: { name: 'far', version: '1' },
          capabilities: { tools: {} },
        }
        return send({ id, result })
      }
      if (method === 'tools/list')
        return send({ id, result: { tools: [{ name: 'hi', inputSchema: { type: 'object' } }] } })
      if (method === 'tools/call') send({ id, result: { content: [{ type: 'text', text: 'x'.repeat(300) }] } })
    })

  test('is listed and called', async () => {
    const { url } = await speaks()
    const servers = await start([server('far', { type: 'ws', url, headers: {} })])
    expect(servers.states()[0]).toMatchObject({ problem: undefined, tools: [{ name: 'hi' }] })
    expect((await servers.call('far', 'hi', {}, signal)).text).toBe('x'.repeat(300))
  })

  test('is reconnected after a lost connection', async () => {
    const { url, drop, connections } = await speaks()
    const servers = await start([server('far', { type: 'ws', url, headers: {} })])
    drop()
    await vi.waitFor(async () => expect((await servers.call('far', 'hi', {}, signal)).isError).toBe(false))
    expect(connections()).toBeGreaterThan(1)
  })

  test('that is missing is reported', async () => {
    const url = new URL('ws://127.0.0.1:9/mcp')
    const servers = await start([server('far', { type: 'ws', url, headers: {} })])
    expect(servers.states()[0]?.problem).toBe("it can't be reached")
  })
})

describe.skipIf(needsBubblewrap())('a server over HTTP', () => {
  /** Starts a server that speaks MCP's streamable HTTP transport, and answers with plain JSON. `forget` discards every session, as a restart does. */
  async function speaks() {
    let session = 1
    let calls = 0
    const http = createServer((request, response) => {
      let body = ''
      request.on('data', (text: Buffer) => (body += text.toString()))
      request.on('end', () => {
        if (request.method !== 'POST') return void response.writeHead(405).end()
        const { id, method } = JSON.parse(body) as { id?: number; method: string }
        const known = method === 'initialize' || request.headers['mcp-session-id'] === `s${session}`
        if (!known) return void response.writeHead(404).end('no such session')
        if (id === undefined) return void response.writeHead(202).end()
        if (method === 'tools/call') calls++
        const result =
          method === 'initialize'
            ? { protocolVersion: '2025-06-18', serverInfo: { name: 'far', version: '1' }, capabilities: { tools: {} } }
            : method === 'tools/list'
              ? { tools: [{ name: 'hi', inputSchema: { type: 'object' } }] }
              : { content: [{ type: 'text', text: `session ${session}` }] }
        response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': `s${session}` })
        response.end(JSON.stringify({ jsonrpc: '2.0', id, result }))
      })
    })
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const { port } = http.address() as AddressInfo
    onTestFinished(() => void http.close())
    return { http, port, url: new URL(`http://127.0.0.1:${port}/mcp`), forget: () => session++, calls: () => calls }
  }

  test('that forgot the session is reconnected, and the call is made once', async () => {
    const { url, forget, calls } = await speaks()
    const servers = await start([server('far', { type: 'http', url, headers: {} })])
    expect((await servers.call('far', 'hi', {}, signal)).text).toBe('session 1')
    forget()
    expect((await servers.call('far', 'hi', {}, signal)).text).toBe('session 2')
    expect(calls()).toBe(2)
  })

  test('that disappears fails the call, and is reconnected for the next', async () => {
    const { http, port, url } = await speaks()
    const servers = await start([server('far', { type: 'http', url, headers: {} })])
    http.closeAllConnections()
    await new Promise((resolve) => http.close(resolve))
    await expect(servers.call('far', 'hi', {}, signal)).rejects.toThrow(/127\.0\.0\.1:\d+\/mcp can't be reached: ./)
    await expect(servers.call('far', 'hi', {}, signal)).rejects.toThrow('the MCP server far is not available')
    await new Promise<void>((resolve) => http.listen(port, '127.0.0.1', resolve))
    expect((await servers.call('far', 'hi', {}, signal)).text).toBe('session 1')
  })

  test('does not send us elsewhere', async () => {
    let reached = 0
    const elsewhere = createServer((_, response) => void (reached++, response.end()))
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void elsewhere.close())
    const target = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/mcp`
    for (const type of ['http', 'sse'] as const) {
      const sender = createServer((_, response) => void response.writeHead(307, { location: target }).end())
      await new Promise<void>((resolve) => sender.listen(0, '127.0.0.1', resolve))
      onTestFinished(() => void sender.close())
      const url = new URL(`http://127.0.0.1:${(sender.address() as AddressInfo).port}/mcp`)
      const servers = await start([server('far', { type, url, headers: { Authorization: 'Bearer secret' } })])
      expect(servers.states()[0]?.problem).toBeTruthy()
    }
    expect(reached).toBe(0)
  })
})
