import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { Codex, type CodexOptions, type ThreadEvent, type ThreadOptions } from '@openai/codex-sdk'
import { describe, expect, onTestFinished, test } from 'vitest'
import { call, freeform, say, startMockOpenAI, type MockOpenAI, type Reply } from '../../support/mock-openai.ts'
import { isRunning } from '../../support/is-running.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'

const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname

type Client = { readonly codex: Codex; readonly mock: MockOpenAI; readonly home: string }

/** OpenAI's Codex SDK, unchanged, but configured to start our program and to use a mock of the API. */
async function client(replies: readonly Reply[], options: CodexOptions = {}): Promise<Client> {
  const mock = await startMockOpenAI({ replies })
  onTestFinished(() => mock.close())
  const home = tempDir()
  const codex = new Codex({
    codexPathOverride: program,
    baseUrl: mock.baseUrl,
    apiKey: 'sk-from-the-client',
    env: {
      PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`,
      HOME: home,
      XDG_STATE_HOME: `${home}/.local/state`,
      XDG_CONFIG_HOME: `${home}/.config`,
    },
    ...options,
  })
  return { codex, mock, home }
}

const thread = (more: ThreadOptions = {}): ThreadOptions => ({
  workingDirectory: repository(),
  model: 'gpt-5.5',
  ...more,
})

const body = ({ mock }: Client, index: number): string => JSON.stringify(mock.requests[index]?.body)

describe.skipIf(needsBubblewrap())("OpenAI's @openai/codex-sdk", () => {
  test('runs a thread: commands, patches, the final response and the usage', async () => {
    const patch = '*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch\n'
    const used = await client([
      { say: [call('exec_command', { cmd: 'echo hi; exit 3' })], usage: { input: 10, cached: 4, output: 2 } },
      { say: [freeform('apply_patch', patch)], usage: { input: 20, output: 3, reasoning: 1 } },
      { say: [say('all done')], usage: { input: 30, output: 4 } },
    ])
    const options = thread()
    const running = used.codex.startThread(options)
    const turn = await running.run('do it')
    const path = join(options.workingDirectory ?? '', 'made.txt')
    expect(turn.finalResponse).toBe('all done')
    expect(turn.items).toMatchObject([
      { type: 'command_execution', aggregated_output: 'hi\n', exit_code: 3, status: 'failed' },
      { type: 'file_change', changes: [{ path, kind: 'add' }], status: 'completed' },
      { type: 'agent_message', text: 'all done' },
    ])
    expect(turn.usage).toEqual({
      input_tokens: 60,
      cached_input_tokens: 4,
      cache_write_input_tokens: 0,
      output_tokens: 9,
      reasoning_output_tokens: 1,
    })
    expect(readFileSync(path, 'utf8')).toBe('made\n')
    expect(running.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(used.mock.requests[0]?.headers.authorization).toBe('Bearer sk-from-the-client')
  })

  test('continues a thread, with the same object or by its id', async () => {
    const used = await client([[say('answer 1')], [say('answer 2')], [say('answer 3')]])
    const options = thread({ threadSource: 'a-test' } as ThreadOptions)
    const first = used.codex.startThread(options)
    await first.run('first task')
    await first.run('second task')
    const again = used.codex.resumeThread(first.id ?? '', options)
    expect((await again.run('third task')).finalResponse).toBe('answer 3')
    expect(again.id).toBe(first.id)
    const order = ['first task', 'answer 1', 'second task', 'answer 2', 'third task'].map((text) =>
      body(used, 2).indexOf(text),
    )
    expect(order).not.toContain(-1)
    expect(order).toEqual(order.toSorted((a, b) => a - b))
    const rollout = join(used.home, '.local/state/portcullis/sessions', first.id ?? '', 'rollout.jsonl')
    expect(readFileSync(rollout, 'utf8').split('\n')[0]).toContain('"source":"a-test"')
  })

  test('streams events while they happen', async () => {
    const { codex } = await client([[call('exec_command', { cmd: 'true' })], [say('ok')]])
    const { events } = await codex.startThread(thread()).runStreamed('go')
    const seen: ThreadEvent[] = []
    for await (const event of events) seen.push(event)
    expect(seen.map(({ type }) => type)).toEqual([
      'thread.started',
      'turn.started',
      'item.started',
      'item.completed',
      'item.completed',
      'turn.completed',
    ])
  })

  test('passes pictures, also when it resumes', async () => {
    const file = join(tempDir(), 'a.gif')
    writeFileSync(file, 'GIF89a and more')
    const used = await client([[say('ok')], [say('ok')]])
    const running = used.codex.startThread(thread())
    await running.run([
      { type: 'text', text: 'what is' },
      { type: 'text', text: 'this?' },
      { type: 'local_image', path: file },
    ])
    await running.run([
      { type: 'text', text: 'and this?' },
      { type: 'local_image', path: file },
    ])
    expect(body(used, 0)).toContain('what is\\n\\nthis?')
    expect(body(used, 0).split('data:image/gif;base64,')).toHaveLength(2)
    expect(body(used, 1).split('data:image/gif;base64,')).toHaveLength(3)
  })

  test('checks the answer against a schema', async () => {
    const outputSchema = {
      type: 'object',
      properties: { ok: { type: 'boolean' } },
      required: ['ok'],
      additionalProperties: false,
    }
    const used = await client([[say('{"ok":"yes"}')], [say('{"ok":true}')]])
    const { finalResponse } = await used.codex.startThread(thread()).run('go', { outputSchema })
    expect(JSON.parse(finalResponse)).toEqual({ ok: true })
    expect(body(used, 0)).toContain('"json_schema"')
  })

  test('sets the sandbox, further directories, the network and the approval mode', async () => {
    const extra = tempDir()
    const outside = tempDir()
    const cmd = `touch inside; touch ${extra}/f; touch ${outside}/f; true`
    const used = await client([[call('exec_command', { cmd })], [say('ok')]])
    const options = thread({
      sandboxMode: 'workspace-write',
      additionalDirectories: [extra],
      networkAccessEnabled: true,
      approvalPolicy: 'never',
      modelReasoningEffort: 'low',
      webSearchMode: 'disabled',
    })
    await used.codex.startThread(options).run('go')
    expect(existsSync(join(options.workingDirectory ?? '', 'inside'))).toBe(true)
    expect(existsSync(join(extra, 'f'))).toBe(true)
    expect(existsSync(join(outside, 'f'))).toBe(false)
    expect(body(used, 0)).toContain(`sandbox: workspace-write; commands can write in the working directory, ${extra};`)
    expect(body(used, 0)).toContain('network: full')
    expect(used.mock.requests[0]?.body).toMatchObject({ reasoning: { effort: 'low' } })
  })

  test('is read-only on request', async () => {
    const used = await client([[call('exec_command', { cmd: 'touch f' })], [say('ok')]])
    const options = thread({ sandboxMode: 'read-only' })
    const { items } = await used.codex.startThread(options).run('go')
    expect(items[0]).toMatchObject({ type: 'command_execution', status: 'failed' })
    expect(existsSync(join(options.workingDirectory ?? '', 'f'))).toBe(false)
  })

  test('sets the configuration, as an object and as text', async () => {
    const used = await client([[say('ok')]], {
      config: { sandbox_workspace_write: { network_access: false }, approval_policy: 'on-request' },
      configOverrides: ['model_reasoning_effort="high"'],
    })
    await used.codex.startThread(thread()).run('go')
    expect(used.mock.requests[0]?.body).toMatchObject({ reasoning: { effort: 'high' } })
    expect(body(used, 0)).toContain('approvals: on-request')
  })

  test('is told that a web search would reach more than its commands may, and continues', async () => {
    const { codex } = await client([[say('ok')]])
    const { items } = await codex.startThread(thread({ webSearchMode: 'live' })).run('go')
    expect(items).toMatchObject([
      { type: 'error', message: expect.stringContaining('No web search in this run') },
      { text: 'ok' },
    ])
  })

  test('aborts a turn together with its command', async () => {
    const mark = `60.${process.pid}${Math.floor(Math.random() * 1e9)}`
    const used = await client([[call('exec_command', { cmd: `sleep ${mark}; touch survived` })]])
    const options = thread()
    const directory = options.workingDirectory ?? ''
    const controller = new AbortController()
    const { events } = await used.codex.startThread(options).runStreamed('go', { signal: controller.signal })
    const listening = (async () => {
      for await (const event of events) {
        if (event.type !== 'item.started') continue
        while (!isRunning(mark)) await new Promise((resolve) => setTimeout(resolve, 20))
        controller.abort()
      }
    })()
    await expect(listening).rejects.toThrow(/abort/i)
    expect(existsSync(join(directory, 'survived'))).toBe(false)
  })

  test('throws what went wrong', async () => {
    const refusal: Reply = { status: 401, body: { error: { message: 'Incorrect API key provided' } } }
    const { codex } = await client([refusal])
    await expect(codex.startThread(thread()).run('go')).rejects.toThrow('Incorrect API key provided')
    const { codex: other } = await client([])
    await expect(other.resumeThread('00000000-0000-7000-8000-000000000000', thread()).run('go')).rejects.toThrow(
      /There is no session/,
    )
    const { events } = await other.startThread(thread({ workingDirectory: '/no/such/folder' })).runStreamed('go')
    const seen: string[] = []
    const listening = (async () => {
      for await (const { type } of events) seen.push(type)
    })()
    await expect(listening).rejects.toThrow(/code 2: agent: .*no such directory/)
    expect(seen).toEqual(['error', 'turn.failed'])
  })
})
