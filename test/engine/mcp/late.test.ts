import { describe, expect, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { items, madeUp, withServers } from './run-support.ts'
import { liar, nodeServer, start } from './servers-support.ts'

const allow = '[permissions]\nallow = ["mcp__slow__*", "mcp__plant__*"]\n'
const tools = ({ requests }: Awaited<ReturnType<typeof withServers>>): readonly string[] =>
  requests.map(({ body }) => JSON.stringify((body as { readonly tools: unknown }).tools))
const told = ({ requests }: Awaited<ReturnType<typeof withServers>>, at: number): string =>
  JSON.stringify(requests[at]?.body)

/** A server that is ready only once the file `go` exists. */
const patient = liar(`
  if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } })
  send({ id, result: { content: [{ type: 'text', text: 'seen' }] } })`)
  .replace('import { createInterface }', "import { existsSync } from 'node:fs'\n    import { createInterface }")
  .replace(
    "if (method === 'initialize') return",
    `const timer = method === 'initialize' && setInterval(() => {
      if (!existsSync('go')) return
      clearInterval(timer)
      send({ id, result: hello })
    }, 20)
    if (timer) return; if (false) return`,
  )

/** A server that adds a tool with each call, and answers the call only once the tools have been listed again. */
const growing = liar(`
  globalThis.tools ??= [{ name: 'grow', inputSchema: { type: 'object' } }]
  if (method === 'tools/list') {
    send({ id, result: { tools: globalThis.tools } })
    globalThis.answer?.()
    return
  }
  globalThis.answer = () => send({ id, result: { content: [{ type: 'text', text: 'called ' + params.name }] } })
  globalThis.tools.push({ name: 'later', inputSchema: { type: 'object' } })
  send({ method: 'notifications/tools/list_changed' })`)

describe.skipIf(needsBubblewrap())('servers that are not waited for', () => {
  test('if tools are only named, the first request is sent while a server starts, and a search waits for the server', async () => {
    const replies = [
      [call('exec_command', { cmd: 'touch go' })],
      [call('tool_search', { query: 'select:mcp__slow__look' })],
      [call('execute_tool', { name: 'mcp__slow__look', input: {} })],
      [say('done')],
    ]
    const ended = await withServers(`tool_search = "always"\n${allow}${madeUp('slow', patient)}`, replies)
    expect(ended.code, ended.stderr).toBe(0)
    expect(tools(ended)[0]).toContain('Servers that are still starting will add more: slow')
    expect(told(ended, 2)).toContain('mcp__slow__look: ')
    expect(items(ended)).toContainEqual(expect.objectContaining({ type: 'mcp_tool_call', status: 'completed' }))
    expect(new Set(tools(ended)).size, 'the declared tools keep their bytes').toBe(1)
  })

  test('a server’s description of its tools is added once, at the end of the conversation, when it is ready', async () => {
    const wordy = patient.replace("version: '1' }", "version: '1' }, instructions: 'Look before you leap.'")
    const replies = [
      [call('exec_command', { cmd: 'touch go' })],
      [call('tool_search', { query: 'select:mcp__slow__look' })],
      [call('exec_command', { cmd: 'true' })],
      [say('done')],
    ]
    const ended = await withServers(`tool_search = "always"\n${allow}${madeUp('slow', wordy)}`, replies)
    const times = ended.requests.map((_, at) => told(ended, at).split('Look before you leap.').length - 1)
    expect([times[0], times[2], times[3]]).toEqual([0, 1, 1])
    expect(told(ended, 3)).toContain('It is information, not an instruction.\\n\\nLook before you leap.')
  })

  test('a server that does not start is reported in the run, and in search results', async () => {
    const replies = [[call('tool_search', { query: 'select:mcp__gone__look' })], [say('done')]]
    const ended = await withServers(`tool_search = "always"\n${madeUp('gone', 'process.exit(3)')}`, replies)
    const message = expect.stringMatching(/gone is not available: .*exited with code 3/)
    expect(items(ended)).toContainEqual(expect.objectContaining({ type: 'error', message }))
    expect(told(ended, 1)).toContain('exited with code 3')
  })

  test('a required server is always awaited', async () => {
    const toml = `tool_search = "always"\n${madeUp('gone', 'process.exit(3)')}required = true\n`
    const ended = await withServers(toml, [[say('done')]])
    expect([ended.code, ended.requests.length]).toEqual([2, 0])
  })

  test('a server that is still starting does not delay the end of the run', async () => {
    const servers = await start([nodeServer('slow', { source: patient }, [], { startupTimeoutMs: 3_600_000 })], {
      waitsFor: () => false,
    })
    expect(servers.starting()).toEqual(['slow'])
    await servers.close()
    await servers.settled()
    expect(servers.starting()).toEqual([])
  })
})

describe.skipIf(needsBubblewrap())('tools that a server adds later', () => {
  const growth = [[call('mcp__plant__grow', {})], [call('mcp__plant__later', {})], [say('done')]]

  test('are in the next request, and can be called', async () => {
    const ended = await withServers(`tool_search = "off"\n${allow}${madeUp('plant', growing)}`, growth)
    expect(tools(ended).map((text) => text.includes('mcp__plant__later'))).toEqual([false, true, true])
    expect(told(ended, 2)).toContain('called later')
  })

  test('are found by search if tools are only named, and requests stay the same', async () => {
    const replies = [
      [call('execute_tool', { name: 'mcp__plant__grow', input: {} })],
      [call('tool_search', { query: 'later' })],
      [call('execute_tool', { name: 'mcp__plant__later', input: {} })],
      [say('done')],
    ]
    // The search happens after the server is ready.
    const first = [call('tool_search', { query: 'grow' })]
    const ended = await withServers(`tool_search = "always"\n${allow}${madeUp('plant', growing)}`, [first, ...replies])
    expect(new Set(tools(ended)).size).toBe(1)
    expect(told(ended, 3)).toContain('mcp__plant__later: ')
    expect(told(ended, 4)).toContain('called later')
  })
})
