import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttp } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, onTestFinished, test } from 'vitest'
import { resourceTools } from '../../../engine/mcp/resource-tools.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { liar, nodeServer, reference, server, start, testWith } from './servers-support.ts'

const signal = new AbortController().signal

describe.skipIf(needsBubblewrap())('the reference servers, in the sandbox', () => {
  testWith('everything')('everything: its tools are listed and called', async () => {
    const servers = await start([nodeServer('everything', { file: reference('everything') })])
    const [state] = servers.states()
    expect(state?.problem).toBeUndefined()
    expect(state?.tools.map(({ name }) => name)).toContain('echo')
    const { text, isError } = await servers.call('everything', 'echo', { message: 'hello' }, signal)
    expect([text, isError]).toEqual(['Echo: hello', false])
  })

  testWith('everything')('everything: a picture comes as a picture', async () => {
    const servers = await start([nodeServer('everything', { file: reference('everything') })])
    const { images } = await servers.call('everything', 'get-tiny-image', {}, signal)
    expect(images).toMatchObject([{ mediaType: 'image/png' }])
  })

  testWith('everything')('everything: resources and prompts can be read', async () => {
    const servers = await start([nodeServer('everything', { file: reference('everything') })])
    const connection = await servers.connection('everything')
    const [first] = await connection.listResources()
    expect((await connection.readResource(first?.uri ?? '', signal)).text).not.toBe('')
    expect((await connection.listPrompts()).map(({ name }) => name)).toContain('simple-prompt')
    expect(await connection.getPrompt('simple-prompt', {}, signal)).not.toBe('')
  })

  testWith('everything')(
    'a list of the resources of a server that does not exist fails, and names the servers',
    async () => {
      const tools = resourceTools(await start([nodeServer('everything', { file: reference('everything') })]))
      const list = tools.find(({ name }) => name === 'list_mcp_resources')?.check({ server: 'other' })
      expect(list?.valid === true && (await list.run({} as never, undefined))).toEqual({
        ok: false,
        output: 'There is no MCP server other. The servers are everything.',
      })
    },
  )

  testWith('everything')('everything: a cancelled call ends at once', async () => {
    const servers = await start([nodeServer('everything', { file: reference('everything') })])
    const controller = new AbortController()
    const call = servers.call(
      'everything',
      'trigger-long-running-operation',
      { duration: 60, steps: 60 },
      controller.signal,
    )
    setTimeout(() => controller.abort(), 100)
    await expect(call).rejects.toThrow()
  })

  testWith('filesystem')('filesystem: it writes only where the sandbox allows it', async () => {
    const workspace = tempDir()
    const other = tempDir()
    const servers = await start([nodeServer('files', { file: reference('filesystem') }, [workspace, '/usr'])], {
      workspace,
    })
    await servers.call('files', 'write_file', { path: join(workspace, 'a.txt'), content: 'hi' }, signal)
    expect(readFileSync(join(workspace, 'a.txt'), 'utf8')).toBe('hi')
    const outside = await servers.call('files', 'write_file', { path: '/usr/planted', content: 'hi' }, signal)
    expect(outside.isError).toBe(true)
    expect([existsSync('/usr/planted'), existsSync(join(other, 'planted'))]).toEqual([false, false])
  })

  testWith('memory')('memory: data from one call is known in the next', async () => {
    const workspace = tempDir()
    const transport = {
      type: 'stdio' as const,
      argv: [process.execPath, reference('memory')] as const,
      env: { MEMORY_FILE_PATH: join(workspace, 'memory.json') },
      cwd: undefined,
      sandboxed: true,
    }
    const servers = await start([server('memory', transport)], { workspace })
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['writes programs'] }]
    await servers.call('memory', 'create_entities', { entities }, signal)
    expect((await servers.call('memory', 'search_nodes', { query: 'Ada' }, signal)).text).toContain('writes programs')
  })
})

describe.skipIf(needsBubblewrap())('servers over the network', () => {
  async function everything(mode: 'streamableHttp' | 'sse'): Promise<number> {
    const port = await freePort()
    const child = spawn(process.execPath, [reference('everything'), mode], {
      env: { PATH: process.env['PATH'], PORT: String(port) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    await new Promise<void>((resolve) =>
      child.stderr.on('data', (text: Buffer) => /listening|running/i.test(String(text)) && resolve()),
    )
    return port
  }

  for (const [mode, type, path] of [
    ['streamableHttp', 'http', 'mcp'],
    ['sse', 'sse', 'sse'],
  ] as const) {
    testWith('everything')(`everything over ${type}`, async () => {
      const url = new URL(`http://127.0.0.1:${await everything(mode)}/${path}`)
      const servers = await start([server('far', { type, url, headers: {} })])
      expect(servers.states()[0]?.problem).toBeUndefined()
      expect((await servers.call('far', 'echo', { message: 'hello' }, signal)).text).toBe('Echo: hello')
    })
  }

  test.each([
    ['http', {}, 401, 'it needs a key, and none was sent'],
    ['http', { Authorization: 'Bearer secret' }, 401, 'it does not accept the key'],
    ['http', { Authorization: 'Bearer secret' }, 403, 'it does not accept the key'],
    ['sse', {}, 401, 'it needs a key, and none was sent'],
  ] as const)(
    'a server over %s that answers %j with %i is named with the key to set',
    async (type, headers, code, why) => {
      const site = createHttp((_, response) => response.writeHead(code).end('no')).listen(0, '127.0.0.1')
      onTestFinished(() => void site.close())
      await once(site, 'listening')
      const url = new URL(`http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp`)
      const [state] = (await start([server('far', { type, url, headers })])).states()
      expect(state?.problem).toContain(`${url.href} answered ${code}: ${why}`)
      expect(state?.problem).toContain('bearer_token_env_var')
      expect(state?.problem).not.toContain('secret')
    },
  )

  const page = `<html><title>Sign in</title><p>to CorpNet</p>${'<p>again</p>'.repeat(100_000)}</html>`
  const begins = 'begins: "Sign in to CorpNet again'

  test.each([
    ['http', 200, 'text/html', `sent a web page (text/html), which ${begins}`],
    ['sse', 200, 'text/html', `sent a web page (text/html), which ${begins}`],
    ['http', 200, 'application/json', 'sent something that is not JSON'],
    ['http', 502, 'text/html', 'answered 502: Sign in to CorpNet'],
    ['sse', 502, 'text/html', 'answered 502'],
    ['http', 403, 'text/html', 'answered 403: it needs a key, and none was sent ("Sign in to CorpNet'],
  ] as const)(
    'a page in place of a server over %s (%i, %s) is named, with its first words',
    async (type, code, kind, says) => {
      const site = createHttp((_, response) => response.writeHead(code, { 'content-type': kind }).end(page))
      site.listen(0, '127.0.0.1')
      onTestFinished(() => void site.close())
      await once(site, 'listening')
      const url = new URL(`http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp?key=secret`)
      const [state] = (await start([server('far', { type, url, headers: {} })])).states()
      expect(state?.problem).toContain(says)
      expect(state?.problem).toContain(`${url.origin}/mcp`)
      expect(state?.problem).not.toContain('secret')
      expect(state?.problem?.length).toBeLessThan(500)
    },
  )

  test('an endless page in place of a server is not read to its end', async () => {
    const site = createHttp((_, response) => {
      response.writeHead(500, { 'content-type': 'text/html' }).write('<p>no end</p>')
      const more = setInterval(() => response.write('x'.repeat(10_000)), 1)
      response.on('close', () => clearInterval(more))
    })
    site.listen(0, '127.0.0.1')
    onTestFinished(() => void site.close())
    await once(site, 'listening')
    const url = new URL(`http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp`)
    const [state] = (await start([server('far', { type: 'http', url, headers: {} })])).states()
    expect(state?.problem).toContain('answered 500: no end')
  })

  test.each([['stdio'], ['http']] as const)(
    'a server over %s that never answers has the time that is set',
    async (type) => {
      const site = createHttp(() => undefined).listen(0, '127.0.0.1')
      onTestFinished(() => void (site.closeAllConnections(), site.close()))
      await once(site, 'listening')
      const url = new URL(`http://127.0.0.1:${(site.address() as AddressInfo).port}/mcp`)
      const silent = { source: 'setInterval(() => undefined, 1000)' }
      const settings = { startupTimeoutMs: 1500 }
      const servers = await start([
        type === 'http'
          ? server('slow', { type, url, headers: {} }, settings)
          : nodeServer('slow', silent, [], settings),
      ])
      expect(servers.states()[0]?.problem).toMatch(/timed out|not ready/i)
    },
  )

  test('a missing server is reported as such', async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}/mcp`)
    const servers = await start([server('far', { type: 'http', url, headers: {} })])
    expect(servers.states()[0]?.problem).toContain('ECONNREFUSED')
  })

  test('a missing required server stops the run', async () => {
    const url = new URL(`http://127.0.0.1:${await freePort()}/mcp`)
    await expect(start([server('far', { type: 'http', url, headers: {} }, { required: true })])).rejects.toMatchObject({
      reason: 'usage',
      message: expect.stringContaining('the MCP server far is required but not available'),
    })
  })
})

describe.skipIf(needsBubblewrap())('servers that misbehave', () => {
  test('a server that is killed during a call is reported, and is started again for the next', async () => {
    const workspace = tempDir()
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'die', inputSchema: { type: 'object' } }] } })
      if (params.arguments.now) { console.error('out of luck'); process.kill(process.pid, 'SIGKILL') }
      else send({ id, result: { content: [{ type: 'text', text: 'alive' }] } })`)
    const servers = await start([nodeServer('mortal', { source })], { workspace })
    await expect(servers.call('mortal', 'die', { now: true }, signal)).rejects.toThrow(/the server .*out of luck/)
    expect((await servers.call('mortal', 'die', {}, signal)).text).toBe('alive')
  })

  test('a server that prints a line that is too long is ended', async () => {
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'flood', inputSchema: { type: 'object' } }] } })
      const more = () => process.stdout.write('x'.repeat(1 << 20), more)
      more()`)
    const servers = await start([nodeServer('flood', { source })])
    await expect(servers.call('flood', 'flood', {}, signal)).rejects.toThrow('a line that is too long')
  })

  test('a server with one invalid schema keeps its other tools', async () => {
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: [
        { name: 'good', inputSchema: { type: 'object' } },
        { name: 'odd', inputSchema: 'a string', description: 7, annotations: { readOnlyHint: 'yes' } },
      ] } })`)
    const servers = await start([nodeServer('liar', { source })])
    expect(servers.states()[0]?.tools).toEqual([
      { name: 'good', description: '', inputSchema: { type: 'object' }, readOnlyHint: false },
      { name: 'odd', description: '', inputSchema: undefined, readOnlyHint: false },
    ])
  })

  test('a server that never gets ready, or whose list never ends, does not delay the run', async () => {
    const silent = nodeServer('silent', { source: 'setInterval(() => {}, 1000)' }, [], { startupTimeoutMs: 500 })
    const endless = liar(`send({ id, result: { tools: [], nextCursor: 'more' } })`)
    const servers = await start([silent, nodeServer('endless', { source: endless })])
    const [first, second] = servers.states()
    expect(first?.problem).toMatch(/timed out|not ready/i)
    expect([second?.problem, second?.tools]).toEqual([undefined, []])
  })

  test('a server that is not a program is reported as such', async () => {
    const servers = await start([nodeServer('none', { source: 'process.exit(3)' })])
    expect(servers.states()[0]?.problem).toContain('exited with code 3')
  })

  test('tools that are added later are noticed', async () => {
    const source = liar(`
      globalThis.tools ??= []
      if (method === 'tools/list') return send({ id, result: { tools: globalThis.tools } })
      globalThis.tools.push({ name: 'later', inputSchema: { type: 'object' } })
      send({ method: 'notifications/tools/list_changed' })
      send({ id, result: { content: [] } })`)
    let changed: () => void = () => undefined
    const change = new Promise<void>((resolve) => (changed = resolve))
    const servers = await start([nodeServer('growing', { source })], { onChanged: () => changed() })
    await servers.call('growing', 'grow', {}, signal)
    await change
    expect(servers.states()[0]?.tools.map(({ name }) => name)).toEqual(['later'])
  })

  testWith('everything')('only the tools that the configuration allows are available', async () => {
    const settings = { enabledTools: ['echo', 'get-sum'], disabledTools: ['get-sum'] }
    const servers = await start([nodeServer('everything', { file: reference('everything') }, [], settings)])
    expect(servers.states()[0]?.tools.map(({ name }) => name)).toEqual(['echo'])
  })
})

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}
