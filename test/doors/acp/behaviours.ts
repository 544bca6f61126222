import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { call, freeform, say, think, type Reply } from '../../support/mock-model.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { bodies, textsBy } from '../codex/door.ts'
import { command, prompt } from './door.ts'
import { begin, connect, textOf, updatesOf, within, type Client, type Update } from './sdk.ts'

/** A behaviour that clients of the protocol see. */
type Behaviour = {
  readonly name: string
  readonly differs?: string
  /** Says that the behaviour is missing, and what there is instead. */
  readonly here?: string
  readonly run: () => Promise<void>
}

const hi: readonly Reply[] = [[say('Hi, in several pieces!')]]
const end = { stopReason: 'end_turn' }
const patch = '*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** Add File: b.txt\n+new\n*** End Patch'

const statuses = (client: Pick<Client, 'updates'>): readonly unknown[] =>
  client.updates.flatMap(({ sessionUpdate, status }) => (sessionUpdate.startsWith('tool_call') ? [status] : []))

const diffsOf = (update: Update | undefined): readonly object[] =>
  ((update?.['content'] ?? []) as readonly { readonly type: string }[]).filter(({ type }) => type === 'diff')

const configured = (answer: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  const options = answer['configOptions'] as readonly { readonly id: string; readonly currentValue: unknown }[]
  return Object.fromEntries(options.map(({ id, currentValue }) => [id, currentValue]))
}

/** The 13 behaviours that were seen of other agents. */
export const behaviours: readonly Behaviour[] = [
  {
    name: 'initialize: version 1, also for a client that asks for another, and what the agent can do',
    run: async () => {
      const client = await connect({ replies: [] })
      const answer = await client.request('initialize', { protocolVersion: 7, clientCapabilities: {} })
      expect(answer).toMatchObject({
        protocolVersion: 1,
        agentInfo: { name: 'portcullis' },
        agentCapabilities: { loadSession: true, promptCapabilities: { image: true, embeddedContext: true } },
        authMethods: [{ id: 'environment' }],
      })
    },
  },
  {
    name: 'authenticate: fails without a key, and says what is needed',
    run: async () => {
      const client = await connect({ replies: [] })
      expect(await client.request('authenticate', { methodId: 'environment' })).toEqual({})
      const without = await connect({ replies: [], env: { OPENAI_API_KEY: '', OPENAI_BASE_URL: '' } })
      await expect(without.request('authenticate', { methodId: 'environment' })).rejects.toMatchObject({
        code: -32000,
        message: expect.stringContaining('OPENAI_API_KEY') as string,
      })
    },
  },
  {
    name: 'session/prompt: the answer comes in chunks, thoughts before it, and then its stop reason',
    run: async () => {
      const client = await begin({ replies: [[think('I greet.'), say('Hi, in several pieces!')]] })
      expect(await client.prompt('hello')).toEqual(end)
      expect(textOf(client)).toBe('Hi, in several pieces!')
      expect(updatesOf(client, 'agent_message_chunk').length).toBeGreaterThan(1)
      expect(textOf(client, 'agent_thought_chunk')).toBe('I greet.')
      expect(await client.prompt('again').catch((error: unknown) => error)).toMatchObject({ code: -32603 })
    },
  },
  {
    name: 'tool calls: a command is pending, in progress and completed, with its output',
    run: async () => {
      const client = await begin({ replies: command('echo one; echo two') })
      expect(await client.prompt('go')).toEqual(end)
      expect(updatesOf(client, 'tool_call')).toMatchObject([
        {
          title: 'echo one; echo two',
          kind: 'execute',
          status: 'pending',
          rawInput: { command: 'echo one; echo two' },
        },
      ])
      expect(statuses(client)).toEqual(['pending', 'in_progress', 'completed'])
      expect(JSON.stringify(updatesOf(client, 'tool_call_update').at(-1))).toContain('one\\ntwo')
    },
  },
  {
    name: 'tool calls: an edit has a diff for each file, with absolute paths, and its locations',
    run: async () => {
      const cwd = repository({ 'a.txt': 'one\n' })
      const client = await begin({ cwd, replies: [[freeform('apply_patch', patch)], [say('ok')]] })
      expect(await client.prompt('go')).toEqual(end)
      const [a, b] = [join(cwd, 'a.txt'), join(cwd, 'b.txt')]
      const [started] = updatesOf(client, 'tool_call')
      expect(started).toMatchObject({ kind: 'edit', locations: [{ path: a }, { path: b }] })
      expect(diffsOf(started)).toEqual([
        { type: 'diff', path: a, oldText: 'one\n', newText: 'two\n' },
        { type: 'diff', path: b, oldText: null, newText: 'new\n' },
      ])
      expect(readFileSync(b, 'utf8')).toBe('new\n')
    },
  },
  {
    name: 'session/request_permission: allowed, with what will happen in the question',
    run: async () => {
      const client = await begin({ replies: command('echo made > a') })
      expect(await client.prompt('go')).toEqual(end)
      expect(client.questions).toMatchObject([
        {
          sessionId: client.sessionId,
          toolCall: { kind: 'execute', title: 'echo made > a', rawInput: { command: 'echo made > a' } },
          options: [{ kind: 'allow_once' }, { kind: 'allow_always' }, { kind: 'reject_once' }],
        },
      ])
      expect(client.questions[0]?.toolCall.toolCallId).toBe(updatesOf(client, 'tool_call')[0]?.['toolCallId'])
      expect(readFileSync(join(client.cwd, 'a'), 'utf8')).toBe('made\n')
    },
  },
  {
    name: 'session/request_permission: rejected, and the model reads it',
    run: async () => {
      const client = await begin({ replies: command('echo made > a') }, () => 'reject_once')
      expect(await client.prompt('go')).toEqual(end)
      expect(statuses(client).at(-1)).toBe('failed')
      expect(JSON.stringify(bodies(client.mock)[1])).toContain('rejected it')
      expect(existsSync(join(client.cwd, 'a'))).toBe(false)
    },
  },
  {
    name: 'session/request_permission: allowed for the session, and not asked again',
    run: async () => {
      const again: Reply = [call('exec_command', { cmd: 'echo made >> a' })]
      const replies: readonly Reply[] = [again, again, [call('exec_command', { cmd: 'echo other >> a' })], [say('ok')]]
      const client = await begin({ replies: [...replies, again, [say('ok')]] }, () => 'allow_always')
      expect([await client.prompt('go'), await client.prompt('again')]).toEqual([end, end])
      expect(client.questions.map(({ toolCall }) => toolCall['title'])).toEqual(['echo made >> a', 'echo other >> a'])
      expect(readFileSync(join(client.cwd, 'a'), 'utf8')).toBe('made\nmade\nother\nmade\n')
    },
  },
  {
    name: 'session/cancel: the prompt is cancelled, also while it waits for permission, and the next one works',
    run: async () => {
      const replies: readonly Reply[] = [...command('echo made > a').slice(0, 1), 'silence', ...hi]
      const client = await begin({ replies }, async () => {
        await client.notify('session/cancel', { sessionId: client.sessionId })
        return undefined
      })
      expect(await client.prompt('go')).toEqual({ stopReason: 'cancelled' })
      const silent = client.prompt('go')
      await expect.poll(() => client.mock.requests.length).toBe(2)
      await client.notify('session/cancel', { sessionId: client.sessionId })
      expect(await silent).toEqual({ stopReason: 'cancelled' })
      expect(await client.prompt('hello')).toEqual(end)
      expect([textOf(client), existsSync(join(client.cwd, 'a'))]).toEqual(['Hi, in several pieces!', false])
    },
  },
  {
    name: 'plan: its entries, with their progress',
    run: async () => {
      const plan = [
        { step: 'look', status: 'completed' },
        { step: 'write', status: 'in_progress' },
      ]
      const client = await begin({ replies: [[call('update_plan', { plan })], [say('ok')]] })
      await client.prompt('go')
      expect(updatesOf(client, 'plan').at(-1)?.['entries']).toEqual([
        { content: 'look', priority: 'medium', status: 'completed' },
        { content: 'write', priority: 'medium', status: 'in_progress' },
      ])
    },
  },
  {
    name: 'session/load: after SIGKILL, what was said and done is shown, and the next prompt knows it',
    run: async () => {
      const home = tempDir()
      const first = await begin({
        home,
        replies: [[call('exec_command', { cmd: 'echo done' })], [say('I did it.')], 'silence'],
      })
      await first.prompt('do it')
      const cut = first.prompt('go on').catch(() => undefined)
      await expect.poll(() => first.mock.requests.length).toBe(3)
      first.child.kill('SIGKILL')
      await cut
      const client = await connect({ home, cwd: first.cwd, replies: hi })
      const given = { sessionId: first.sessionId, cwd: first.cwd, mcpServers: [] }
      expect(await client.request('session/load', given)).toMatchObject({ modes: { currentModeId: 'ask' } })
      expect(textOf(client, 'user_message_chunk')).toBe('do itgo on')
      expect(textOf(client)).toBe('I did it.')
      expect(statuses(client)).toEqual(['pending', 'completed'])
      expect(await within(client, first.sessionId).prompt('what did you do?')).toEqual(end)
      const [body] = bodies(client.mock)
      expect(textsBy('user', body)).toEqual(expect.arrayContaining(['do it', 'what did you do?']))
      expect(textsBy('assistant', body)).toEqual(['I did it.'])
    },
  },
  {
    name: 'session/set_mode and session/set_config_option: mode, model and effort',
    run: async () => {
      const write = (path: string): Reply => [call('write_file', { path, content: 'text' })]
      const client = await begin({ replies: [write('a'), [say('ok')], write('b'), [say('ok')]] }, () => 'reject_once')
      const { sessionId } = client
      const choose = (configId: string, value: string) =>
        client.request('session/set_config_option', { sessionId, configId, value })
      await client.request('session/set_mode', { sessionId, modeId: 'edits' })
      expect(updatesOf(client, 'current_mode_update')).toMatchObject([{ currentModeId: 'edits' }])
      await choose('model', 'gpt-5.6')
      expect(configured(await choose('effort', 'high'))).toEqual({
        mode: 'edits',
        model: 'gpt-5.6',
        effort: 'high',
      })
      await client.prompt('go')
      expect(bodies(client.mock)[0]).toMatchObject({ model: 'gpt-5.6', reasoning: { effort: 'high' } })
      expect([client.questions.length, existsSync(join(client.cwd, 'a'))]).toEqual([0, true])
      expect(configured(await choose('mode', 'plan'))).toMatchObject({ mode: 'plan' })
      await client.prompt('go')
      expect([client.questions.length, existsSync(join(client.cwd, 'b'))]).toEqual([0, false])
      await expect(choose('mode', 'bypass')).rejects.toMatchObject({ code: -32602 })
    },
  },
  {
    name: 'session/new: MCP servers of the client',
    run: async () => {
      const cwd = repository()
      const server = join(cwd, 'server.mjs')
      writeFileSync(server, serverCode)
      const mcpServers = [
        { name: 'calc', command: process.execPath, args: [server], env: [{ name: 'SUM', value: 'the sum' }] },
      ]
      const client = await begin({ cwd, replies: [[call('mcp__calc__add', { a: 2, b: 3 })], [say('5')]] }, undefined, {
        mcpServers,
      })
      expect(await client.prompt('go')).toEqual(end)
      expect(client.questions).toMatchObject([{ toolCall: { rawInput: { a: 2, b: 3 } } }])
      expect(JSON.stringify(bodies(client.mock)[1])).toContain('the sum is 5')
    },
  },
]

/** A server in lines of JSON-RPC. */
const serverCode = `
import { createInterface } from 'node:readline'
const tools = [{ name: 'add', inputSchema: { type: 'object', properties: { a: { type: 'number' }, b: { type: 'number' } } } }]
const serverInfo = { name: 'calc', version: '1' }
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line)
  const results = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo }),
    'tools/list': () => ({ tools }),
    'tools/call': () => ({ content: [{ type: 'text', text: process.env.SUM + ' is ' + (params.arguments.a + params.arguments.b) }] }),
  }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method]?.() ?? {} }))
}
`

/** What else clients see. */
export const others: readonly Behaviour[] = [
  {
    name: 'session/prompt: pictures, links and embedded contents reach the model',
    run: async () => {
      const client = await begin({ replies: hi })
      const data = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
      const parts = [
        { type: 'resource_link', uri: 'file:///a/b.ts', name: 'b.ts' },
        { type: 'text', text: 'too' },
        { type: 'image', mimeType: 'image/png', data },
        { type: 'resource', resource: { uri: 'file:///c.txt', text: 'what it says' } },
      ]
      expect(await client.prompt('look at', ...parts)).toEqual(end)
      const [body] = bodies(client.mock)
      expect(textsBy('user', body).join()).toContain('look at /a/b.ts too')
      expect(textsBy('user', body).join()).toContain('<context ref="/c.txt">\nwhat it says\n</context>')
      expect(JSON.stringify(body)).toContain(data)
    },
  },
  {
    name: 'available_commands_update: commands of the project, which prompts can begin with',
    run: async () => {
      const home = tempDir({
        '.config/portcullis/commands/greet.md':
          '---\ndescription: Greets.\nargument-hint: whom\n---\nGreet $ARGUMENTS.',
      })
      const client = await begin({ home, replies: hi })
      await expect.poll(() => updatesOf(client, 'available_commands_update')).toHaveLength(1)
      const [greet] = updatesOf(client, 'available_commands_update')[0]?.['availableCommands'] as readonly object[]
      expect(greet).toEqual({ name: 'greet', description: 'Greets.', input: { hint: 'whom' } })
      await client.prompt('/greet the world')
      expect(textsBy('user', bodies(client.mock)[0]).at(-1)).toContain('Greet the world.')
    },
  },
  {
    name: 'session/list, session/resume and session/close',
    run: async () => {
      const home = tempDir()
      const first = await begin({ home, replies: hi })
      await first.prompt('say hi')
      const { cwd, sessionId } = first
      expect(await first.request('session/close', { sessionId })).toEqual({})
      await expect(first.prompt('again')).rejects.toMatchObject({ code: -32002 })
      const client = await connect({ home, cwd, replies: hi })
      expect(await client.request('session/list', { cwd })).toMatchObject({
        sessions: [{ sessionId, cwd, title: 'say hi' }],
      })
      expect(await client.request('session/list', { cwd: repository() })).toEqual({ sessions: [] })
      await client.request('session/resume', { sessionId, cwd, mcpServers: [] })
      expect(textOf(client)).toBe('')
      await within(client, sessionId).prompt('once more')
      expect(textsBy('user', bodies(client.mock)[0])).toEqual(expect.arrayContaining(['say hi', 'once more']))
    },
  },
  {
    name: 'two sessions of one process work at the same time, in their own folders',
    run: async () => {
      const client = await connect({
        replies: (request) => {
          const isLast = JSON.stringify(request.body).includes('call_output')
          return isLast ? [say('ok')] : [call('exec_command', { cmd: 'pwd > where' }, `call_${Math.random()}`)]
        },
      })
      const folders = [repository(), repository()]
      const done = folders.map(async (cwd) => {
        const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] })
        return client.request('session/prompt', prompt(String(sessionId)))
      })
      expect(await Promise.all(done)).toEqual([end, end])
      expect(folders.map((cwd) => readFileSync(join(cwd, 'where'), 'utf8').trim())).toEqual(folders)
    },
  },
  {
    name: 'additionalDirectories: commands may write there',
    run: async () => {
      const more = tempDir()
      const client = await begin({ replies: command(`echo made > ${more}/a`) }, undefined, {
        additionalDirectories: [more],
      })
      await client.prompt('go')
      expect(readFileSync(join(more, 'a'), 'utf8')).toBe('made\n')
    },
  },
  {
    name: 'fs and terminal: the editor’s own files and terminals are used',
    differs: 'commands and files are those of the run’s view, which lands before the prompt is answered',
    run: async () => {
      const client = await begin({
        replies: [
          [call('read_file', { path: 'a' })],
          [call('write_file', { path: 'b', content: 'b' })],
          ...command('cat b > c'),
        ],
        cwd: repository({ a: 'a' }),
      })
      await client.prompt('go')
      expect([...client.called]).toEqual([])
      expect(readFileSync(join(client.cwd, 'c'), 'utf8')).toBe('b')
    },
  },
  {
    name: 'a mode in which nobody is asked, and nothing is confined',
    differs: 'in the mode sandbox, nobody is asked about what stays in the sandbox; there is none without it',
    run: async () => {
      const client = await begin({ replies: command('echo made > a') }, () => 'reject_once')
      await client.request('session/set_mode', { sessionId: client.sessionId, modeId: 'sandbox' })
      expect(await client.prompt('go')).toEqual(end)
      expect([client.questions.length, existsSync(join(client.cwd, 'a'))]).toEqual([0, true])
    },
  },
  ...Object.entries({
    'session/delete': '`agent sessions prune` removes old sessions',
    'session/fork': '`agent exec fork` does it',
    logout: 'keys are in the environment',
  }).map(([method, instead]) => ({
    name: method,
    here: `missing: ${instead}`,
    run: async () => {
      const client = await begin({ replies: [] })
      await expect(client.request(method, { sessionId: client.sessionId, cwd: client.cwd })).rejects.toMatchObject({
        code: -32601,
      })
    },
  })),
  {
    name: 'sound in prompts',
    here: 'missing: prompts have texts, pictures, links and contents',
    run: async () => {
      const client = await begin({ replies: [] })
      const sound = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' }
      await expect(client.prompt('listen', sound)).rejects.toMatchObject({ code: -32602 })
    },
  },
]
