import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, expectTypeOf, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import {
  defineTool,
  openAgent,
  UserError,
  type AgentOptions,
  type HistoryItem,
  type ModelEvent,
  type RunEvent,
} from '../../../engine/index.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { calls, says, scriptedModel, type Response } from '../../support/scripted-run.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

type Given<Output> = Partial<AgentOptions<Output>> & {
  readonly responses?: readonly Response[]
  readonly seen?: (history: readonly HistoryItem[]) => void
}

/** Opens an agent that is closed at the end of the test. By default, it has its own home directory and repository, and a scripted model. */
async function open<Output = unknown>({ responses = [], seen, ...given }: Given<Output> = {}) {
  const agent = await openAgent<Output>({
    workspace: given.workspace ?? repository({ 'a.txt': 'one\n' }),
    model: scriptedModel(responses, seen),
    sandbox: 'danger-full-access',
    environment: { PATH: process.env['PATH'], HOME: tempDir() },
    ...given,
  })
  onTestFinished(() => agent.close())
  return agent
}

const patch = '*** Begin Patch\n*** Add File: b.txt\n+new\n*** End Patch\n'
const patches: Response = () => [calls('apply_patch', { input: patch }, 'a')]
const done: Response = () => [says('done')]

async function typesOf(events: AsyncIterable<RunEvent>): Promise<readonly string[]> {
  const types: string[] = []
  for await (const { type } of events) types.push(type)
  return types
}

test.skipIf(needsBubblewrap())('the settings of an agent can name services, which its runs reach', async () => {
  const server = createServer((socket) => socket.on('error', () => undefined).end('hello')).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const ask: Response = () => [calls('exec_command', { cmd: `bash -c 'cat < /dev/tcp/localhost/${port}'` }, 'a')]
  const settings = { services: [`localhost:${port}`] }
  const agent = await open({ sandbox: 'workspace-write', settings, responses: [ask, done] })
  const items: unknown[] = []
  for await (const event of agent.run('go')) if (event.type === 'item.completed') items.push(event.item)
  expect(items).toContainEqual(expect.objectContaining({ type: 'service_connection', port, bytes_received: 5 }))
})

describe('a run of an agent', () => {
  test('gives its events to iterate, and a result with exit code, final message, usage and changes', async () => {
    const workspace = repository()
    const agent = await open({ workspace, responses: [patches, done] })
    const run = agent.run('go')
    const types = await typesOf(run)
    const { exitCode, finalMessage, usage, changes, threadId } = await run.result
    expect([types[0], types.at(-1)]).toEqual(['thread.started', 'turn.completed'])
    expect({ exitCode, finalMessage, tokens: usage.output_tokens }).toEqual({
      exitCode: 0,
      finalMessage: 'done',
      tokens: 0,
    })
    expect(changes?.files.map(({ path, kind }) => [path, kind])).toEqual([[join(workspace, 'b.txt'), 'add']])
    expect(threadId).toBe(agent.threadId)
  })

  test('gives all its events to a late reader, and again to the next one', async () => {
    const run = (await open({ responses: [done] })).run('go')
    await run.result
    const types = await typesOf(run)
    expect(types[0]).toBe('thread.started')
    expect(await typesOf(run)).toEqual(types)
  })

  test('continues to its end if the loop over its events is left', async () => {
    const agent = await open({ responses: [patches, done] })
    const run = agent.run('go')
    for await (const _ of run) break
    expect(await run.result).toMatchObject({ exitCode: 0, finalMessage: 'done' })
  })

  test('that fails resolves with the exit code and the reason, and does not reject', async () => {
    const agent = await open({ responses: [] })
    expect(await agent.run('go').result).toMatchObject({ exitCode: 1, error: expect.stringContaining('scripted') })
  })
})

describe('a second run', () => {
  test('continues the session', async () => {
    let history: readonly HistoryItem[] = []
    const agent = await open({
      responses: [() => [says('one')], () => [says('two')]],
      seen: (items) => (history = items),
    })
    const first = await agent.run('first task').result
    const second = await agent.run('second task').result
    const said = history.flatMap((item) => (item.type === 'message' && item.role !== 'developer' ? [item.text] : []))
    expect(said).toEqual(['first task', 'one', 'second task'])
    expect(second.threadId).toBe(first.threadId)
  })

  test('waits for the first, however early it is requested', async () => {
    const agent = await open({ responses: [patches, () => [says('one')], () => [says('two')]] })
    const [first, second] = [agent.run('a'), agent.run('b')]
    expect((await second.result).finalMessage).toBe('two')
    expect((await first.result).finalMessage).toBe('one')
  })

  test('starts a new session if the first could not be started', async () => {
    const agent = await open({ responses: [done], resume: 'no-such-session' })
    await expect(agent.run('a').result).rejects.toThrow(/no-such-session/)
    await expect(agent.run('b').result).rejects.toThrow(/no-such-session/)
  })

  test('of an ephemeral agent is refused, with what to do instead', async () => {
    const agent = await open({ responses: [done, done], ephemeral: true })
    expect((await agent.run('a').result).exitCode).toBe(0)
    await expect(agent.run('b').result).rejects.toThrow(/ephemeral/)
  })
})

test.each([['its id'], ['last']])('another agent resumes the session by %s', async (by) => {
  const shared = { workspace: repository(), environment: { PATH: process.env['PATH'], HOME: tempDir() } }
  const { threadId } = await (await open({ ...shared, responses: [() => [says('one')]] })).run('first task').result
  let length = 0
  const resume = by === 'last' ? 'last' : (threadId ?? '')
  const agent = await open({ ...shared, resume, responses: [done], seen: (items) => (length = items.length) })
  expect((await agent.run('second task').result).threadId).toBe(threadId)
  expect(length).toBeGreaterThan(3)
})

test('verify commands run when the model is done', async () => {
  const agent = await open({
    responses: [done, patches, done],
    verify: ['test -e b.txt'],
    verifyAttempts: 1,
  })
  const { exitCode, verified } = await agent.run('go').result
  expect([exitCode, verified]).toMatchObject([0, [{ command: 'test -e b.txt', passed: true, attempts: 2 }]])
})

test('a tool from the caller is offered to the model and run', async () => {
  const countLines = defineTool({
    name: 'count_lines',
    description: 'Counts the lines of a file.',
    input: z.object({ path: z.string() }),
    readOnly: () => true,
    run: async ({ path }, { workspace }) => {
      const text = readFileSync(join(workspace, path), 'utf8')
      return { ok: true, output: String(text.split('\n').length - 1) }
    },
  })
  let history: readonly HistoryItem[] = []
  const agent = await open({
    tools: [countLines],
    responses: [() => [calls('count_lines', { path: 'a.txt' }, 'c')], done],
    seen: (items) => (history = items),
  })
  await agent.run('go').result
  expect(history.at(-1)).toMatchObject({ type: 'tool_result', callId: 'c', output: '1', ok: true })
})

describe('a reviewer', () => {
  const asks = { settings: { approval_policy: 'untrusted' } } as const
  const touches: Response = () => [calls('exec_command', { cmd: 'touch made' }, 't')]

  test.each([
    ['allow', true],
    ['deny', false],
    [{ outcome: 'denied', reason: 'Not on a Sunday.' }, false],
    ['perhaps', false],
  ] as const)('that answers %o decides whether the command runs: %o', async (answer, runs) => {
    const workspace = repository()
    const asked: unknown[] = []
    const agent = await open({
      ...asks,
      workspace,
      responses: [touches, done],
      // A caller in JavaScript may return any value.
      reviewer: ({ action }) => (
        asked.push(action.type === 'exec' ? action.argv.at(-1) : action.type),
        answer as 'allow'
      ),
    })
    const { denied } = await agent.run('go').result
    expect(asked).toEqual(['touch made'])
    expect(existsSync(join(workspace, 'made'))).toBe(runs)
    expect(denied).toHaveLength(runs ? 0 : 1)
    if (typeof answer === 'object') expect(denied[0]?.reason).toContain('Not on a Sunday.')
  })

  test('that throws denies, and the model reads why', async () => {
    const workspace = repository()
    const reviewer = () => Promise.reject(new Error('the pager is off'))
    const agent = await open({ ...asks, workspace, responses: [touches, done], reviewer })
    const { denied } = await agent.run('go').result
    expect(denied[0]?.reason).toContain('the pager is off')
    expect(existsSync(join(workspace, 'made'))).toBe(false)
  })
})

describe('an output schema', () => {
  const schema = z.object({ count: z.int(), names: z.array(z.string()).min(1) })
  const delivers =
    (value: unknown): Response =>
    () => [calls('structured_output', value, 'o')]

  test('of zod gives a typed value', async () => {
    const agent = await open({ outputSchema: schema, responses: [delivers({ count: 1, names: ['a'] })] })
    const { output } = await agent.run('go').result
    expectTypeOf(output).toEqualTypeOf<{ count: number; names: string[] } | undefined>()
    expect(output).toEqual({ count: 1, names: ['a'] })
  })

  test('enforces what JSON Schema can’t express', async () => {
    const even = z.object({ count: z.int().refine((count) => count % 2 === 0, 'must be even') })
    let history: readonly HistoryItem[] = []
    const agent = await open({
      outputSchema: even,
      responses: [delivers({ count: 1 }), delivers({ count: 2 })],
      seen: (items) => (history = items),
    })
    expect((await agent.run('go').result).output).toEqual({ count: 2 })
    expect(JSON.stringify(history)).toContain('must be even')
  })

  test('in JSON Schema gives what the model delivered', async () => {
    const outputSchema = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] }
    const agent = await open({ outputSchema, responses: [delivers({ ok: true })] })
    expect((await agent.run('go').result).output).toEqual({ ok: true })
  })

  test('that is never met fails the run, and there is no value', async () => {
    const agent = await open({ outputSchema: schema, responses: Array.from({ length: 5 }, () => delivers({})) })
    expect(await agent.run('go').result).toMatchObject({ exitCode: 1, output: undefined })
  })

  test.each([
    ['no JSON Schema', { type: 'nonsense' }],
    ['what JSON Schema can’t say', z.object({ when: z.bigint() })],
  ])('that is %s is refused when the agent is opened', async (_, outputSchema) => {
    await expect(open({ outputSchema })).rejects.toThrow(/^outputSchema: /)
  })
})

test('an error that the caller’s model throws is reported as a failure of the model, with exit code 6', async () => {
  const respond = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: 'message', text: 'a' }
    throw new Error('no such host')
  }
  const { exitCode, reason, error } = await (await open({ model: { name: 'mine', respond } })).run('go').result
  expect({ exitCode, reason, error }).toEqual({ exitCode: 6, reason: 'provider', error: 'mine: no such host' })
})

describe('to stop a run', () => {
  const waits: Response = () => [calls('exec_command', { cmd: 'sleep 60' }, 's')]

  test.each(['interrupt', 'the signal of the run', 'the signal of the agent', 'close'])(
    '%s ends it with 130',
    async (by) => {
      const [ofAgent, ofRun] = [new AbortController(), new AbortController()]
      const agent = await open({ responses: [waits], signal: ofAgent.signal })
      const run = agent.run('go', { signal: ofRun.signal })
      for await (const event of run) if (event.type === 'item.started') break
      if (by === 'interrupt') run.interrupt()
      else if (by === 'close') await agent.close()
      else if (by.endsWith('agent')) ofAgent.abort()
      else ofRun.abort()
      expect(await run.result).toMatchObject({ exitCode: 130, reason: 'interrupted' })
    },
  )

  test('it ends a run whose model ignores the signal, and close does not wait for that model', async () => {
    const asked = Promise.withResolvers<void>()
    const respond = async function* (): AsyncGenerator<ModelEvent> {
      asked.resolve()
      await new Promise(() => undefined)
      yield { type: 'message', text: 'never' }
    }
    const agent = await open({ model: { name: 'deaf', respond } })
    const run = agent.run('go')
    await asked.promise
    run.interrupt()
    expect(await run.result).toMatchObject({ exitCode: 130, reason: 'interrupted' })
    await agent.close()
  })

  test('interrupting one run does not affect the next', async () => {
    const agent = await open({ responses: [waits, done] })
    const run = agent.run('go')
    for await (const event of run) if (event.type === 'item.started') run.interrupt()
    expect((await agent.run('on').result).exitCode).toBe(0)
  })

  test('a closed agent accepts no more tasks', async () => {
    let closed
    {
      await using agent = await open({ responses: [done] })
      closed = agent
    }
    const run = closed.run('go')
    await expect(run.result).rejects.toThrow(
      new UserError('usage', 'The agent is closed. Open a new agent for this task.'),
    )
    await expect(typesOf(run)).rejects.toThrow('closed')
  })
})

test.each([
  ['a workspace that is not there', { workspace: '/no/such/place' }, 'workspace /no/such/place: no such directory'],
  [
    'a key that is not known',
    { settings: { sandbox_mod: 'read-only' } as object },
    "unknown key 'sandbox_mod'; did you mean 'sandbox_mode'?",
  ],
  ['a value that is wrong', { settings: { tool_concurrency: 0 } }, "settings: key 'tool_concurrency'"],
  [
    'a reviewer that is never asked',
    { settings: { approval_policy: 'never' }, reviewer: () => 'allow' },
    'remove one of the two',
  ],
] satisfies readonly (readonly [string, Partial<AgentOptions>, string])[])(
  '%s is reported when the agent is opened, before anything runs',
  async (_, given, words) => {
    const opening = open(given)
    await expect(opening).rejects.toThrow(words)
    await expect(opening).rejects.toBeInstanceOf(UserError)
  },
)

test('outside a repository it is refused in the terms of this API, unless the caller allows it', async () => {
  await expect(open({ workspace: tempDir() })).rejects.toThrow('skipGitRepoCheck: true')
  const agent = await open({ workspace: tempDir(), skipGitRepoCheck: true, responses: [done] })
  expect((await agent.run('go').result).exitCode).toBe(0)
})

test.skipIf(needsBubblewrap())('the requested sandbox confines commands', async () => {
  const outside = join(tempDir(), 'outside')
  const workspace = repository()
  const writes: Response = () => [calls('exec_command', { cmd: `echo in > in.txt; echo out > ${outside}` }, 'w')]
  const agent = await open({ workspace, sandbox: 'workspace-write', responses: [writes, done] })
  await agent.run('go').result
  expect([existsSync(join(workspace, 'in.txt')), existsSync(outside)]).toEqual([true, false])
})

test('twenty agents work in parallel, and leave the process unchanged', async () => {
  // The workspaces are created before the spies, because starting git may write warnings to standard error.
  const workspaces = Array.from({ length: 20 }, () => repository())
  const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockReturnValue(true))
  onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
  const exit = vi.spyOn(process, 'exit').mockImplementation(() => undefined as never)
  onTestFinished(() => exit.mockRestore())
  const listeners = (): readonly number[] =>
    ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'].map((name) =>
      process.listenerCount(name),
    )
  const before = listeners()
  const during: (readonly number[])[] = []
  const works = async (workspace: string, index: number): Promise<string> => {
    const writes: Response = () => (
      during.push(listeners()),
      [calls('exec_command', { cmd: `echo ${index} > own.txt` }, 'w')]
    )
    const agent = await open({ workspace, responses: [writes, () => [says(`done ${index}`)], done] })
    const first = await agent.run('go').result
    const second = await agent.run('on').result
    return [first.finalMessage, second.finalMessage, readFileSync(join(workspace, 'own.txt'), 'utf8')].join()
  }
  const ended = await Promise.all(workspaces.map(works))
  expect(ended).toEqual(Array.from({ length: 20 }, (_, index) => `done ${index},done,${index}\n`))
  expect(during).toEqual(Array.from({ length: 20 }, () => before))
  expect([listeners(), spies.flatMap((spy) => spy.mock.calls), exit.mock.calls]).toEqual([before, [], []])
})
