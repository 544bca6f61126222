import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { say, type Reply } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { bodies, picture, textsBy, type Behaviour } from './door.ts'
import { client, valuesOf, type Client, type Thread } from './sdk.ts'

const hi: readonly Reply[] = [{ say: [say('Hi!')], usage: { input: 42, cached: 12, output: 5 } }]
const two: readonly Reply[] = [[say('First response')], [say('Second response')]]
const usage = { input_tokens: 42, cached_input_tokens: 12, output_tokens: 5 }
const schema = {
  type: 'object',
  properties: { answer: { type: 'string' } },
  required: ['answer'],
  additionalProperties: false,
}
const format = { name: 'codex_output_schema', type: 'json_schema', strict: true, schema }

const inRepository = (more: object = {}): Readonly<Record<string, unknown>> => ({
  workingDirectory: repository(),
  ...more,
})

async function drain(thread: Thread, input: string, options = {}): Promise<readonly { readonly type: string }[]> {
  const seen: { readonly type: string }[] = []
  const { events } = await thread.runStreamed(input, options)
  for await (const event of events) seen.push(event)
  return seen
}

/** Runs one turn of a thread with these options, and returns the client. */
async function turn(options: object, codexOptions = {}, replies: readonly Reply[] = hi): Promise<Client> {
  const used = await client(replies, codexOptions)
  await used.codex.startThread(inRepository(options)).run('go')
  return used
}

function expectContinued({ mock }: Client): void {
  const [, second] = bodies(mock)
  expect(textsBy('assistant', second)).toEqual(['First response'])
  expect(second?.input.findLast(({ role }) => role === 'user')?.content?.[0]?.text).toBe('second input')
}

const run: readonly Behaviour[] = [
  {
    name: 'a turn has its items and its usage',
    run: async () => {
      const thread = (await client(hi)).codex.startThread(inRepository())
      const { items, usage: used } = await thread.run('Hello, world!')
      expect(items).toEqual([{ id: expect.any(String), type: 'agent_message', text: 'Hi!' }])
      expect(used).toMatchObject(usage)
      expect(thread.id).toEqual(expect.any(String))
    },
  },
  {
    name: 'the second turn of a thread sends what was said in the first',
    run: async () => {
      const used = await client(two)
      const thread = used.codex.startThread(inRepository())
      await thread.run('first input')
      await thread.run('second input')
      expect(textsBy('assistant', bodies(used.mock)[1])).toEqual(['First response'])
    },
  },
  {
    name: 'the second turn of a thread with options continues it',
    run: async () => {
      const used = await client(two)
      const thread = used.codex.startThread(inRepository({ sandboxMode: 'workspace-write' }))
      await thread.run('first input')
      await thread.run('second input')
      expectContinued(used)
    },
  },
  {
    name: 'a thread is resumed by its id',
    run: async () => {
      const used = await client(two)
      const options = inRepository()
      const first = used.codex.startThread(options)
      await first.run('first input')
      const resumed = used.codex.resumeThread(first.id ?? '', options)
      expect((await resumed.run('second input')).finalResponse).toBe('Second response')
      expect(resumed.id).toBe(first.id)
      expectContinued(used)
    },
  },
  {
    name: 'model and sandboxMode',
    run: async () => {
      const { mock, words } = await turn({ model: 'gpt-test-1', sandboxMode: 'workspace-write' })
      expect(bodies(mock)[0]?.model).toBe('gpt-test-1')
      expect(valuesOf(words(), '--sandbox')).toEqual(['workspace-write'])
    },
  },
  {
    name: 'modelReasoningEffort',
    run: async () => {
      const { mock } = await turn({ model: 'gpt-5.5', modelReasoningEffort: 'high' })
      expect(bodies(mock)[0]?.reasoning?.effort).toBe('high')
    },
  },
  ...(
    [
      ['networkAccessEnabled', { networkAccessEnabled: true }, 'sandbox_workspace_write.network_access=true'],
      ['webSearchEnabled', { webSearchEnabled: true }, 'web_search="live"'],
      ['webSearchMode', { webSearchMode: 'cached' }, 'web_search="cached"'],
      ['webSearchEnabled: false', { webSearchEnabled: false }, 'web_search="disabled"'],
      ['approvalPolicy', { approvalPolicy: 'on-request' }, 'approval_policy="on-request"'],
    ] as const
  ).map(([name, options, override]): Behaviour => ({
    name,
    run: async () => {
      const { words } = await turn(options)
      expect(valuesOf(words(), '--config')).toContain(override)
    },
  })),
  {
    name: 'config, even with keys that nobody knows',
    run: async () => {
      const config = {
        approval_policy: 'never',
        sandbox_workspace_write: { network_access: true },
        retry_budget: 3,
        tool_rules: { allow: ['git status', 'git diff'] },
      }
      const { words } = await turn({}, { config })
      expect(valuesOf(words(), '--config')).toEqual(
        expect.arrayContaining(['retry_budget=3', 'tool_rules.allow=["git status", "git diff"]']),
      )
    },
  },
  {
    name: 'the options of a thread override config',
    run: async () => {
      const { words } = await turn({ approvalPolicy: 'on-request' }, { config: { approval_policy: 'never' } })
      const said = valuesOf(words(), '--config').filter((value) => value.startsWith('approval_policy='))
      expect(said).toEqual(['approval_policy="never"', 'approval_policy="on-request"'])
    },
  },
  {
    name: 'additionalDirectories, even missing ones',
    run: async () => {
      const additionalDirectories = ['../backend', join(tempDir(), 'shared')]
      const { words } = await turn({ additionalDirectories, sandboxMode: 'workspace-write' })
      expect(valuesOf(words(), '--add-dir')).toEqual(additionalDirectories)
    },
  },
  {
    name: 'outputSchema is sent to the model, and its file is removed',
    differs: 'a message off the schema is sent back',
    run: async (isCodex) => {
      const used = await client([[say('Structured response')], [say('{"answer":"it"}')]])
      const { finalResponse } = await used.codex.startThread(inRepository()).run('structured', { outputSchema: schema })
      expect(bodies(used.mock)[0]?.text?.format).toEqual(format)
      const [path = ''] = valuesOf(used.words(), '--output-schema')
      expect(path).not.toBe('')
      expect(existsSync(path)).toBe(false)
      expect(finalResponse).toBe(isCodex ? 'Structured response' : '{"answer":"it"}')
    },
  },
  {
    name: 'parts of a text are joined',
    run: async () => {
      const used = await client(hi)
      const parts = ['Describe file changes', 'Focus on impacted tests']
      await used.codex.startThread(inRepository()).run(parts.map((text) => ({ type: 'text', text })))
      expect(textsBy('user', bodies(used.mock)[0]).at(-1)).toBe(parts.join('\n\n'))
    },
  },
  {
    name: 'files are given as pictures, even if they are none',
    run: async () => {
      const folder = tempDir()
      const files = ['first.png', 'second.jpg'].map((name) => join(folder, name))
      for (const [index, file] of files.entries()) writeFileSync(file, `image-${index}`)
      const used = await client(hi)
      const { finalResponse } = await used.codex
        .startThread(inRepository())
        .run([{ type: 'text', text: 'describe' }, ...files.map((path) => ({ type: 'local_image', path }))])
      expect(finalResponse).toBe('Hi!')
      expect(valuesOf(used.words(), '--image')).toEqual(files)
    },
  },
  {
    name: 'workingDirectory and skipGitRepoCheck',
    run: async () => {
      const workingDirectory = tempDir()
      const { words } = await turn({ workingDirectory, skipGitRepoCheck: true })
      expect(valuesOf(words(), '--cd')).toEqual([workingDirectory])
    },
  },
  {
    name: 'outside a repository, the failure says so',
    run: async () => {
      const { codex } = await client(hi)
      const running = codex.startThread({ workingDirectory: tempDir() }).run('go')
      await expect(running).rejects.toThrow(/Not inside a trusted directory/)
    },
  },
  {
    name: 'requests name the SDK as their originator',
    run: async () => {
      const { mock } = await turn({})
      expect(mock.requests[0]?.headers['originator']).toBe('codex_sdk_ts')
    },
  },
  {
    name: 'a stream that keeps failing is asked for five more times, and fails the turn',
    run: async () => {
      const failing: Reply = {
        say: [],
        end: { type: 'failed', code: 'server_error', message: 'limit exceeded' },
      }
      const { codex, mock } = await client(() => failing)
      await expect(codex.startThread(inRepository()).run('fail')).rejects.toThrow(
        'stream disconnected before completion:',
      )
      expect(mock.requests).toHaveLength(6)
    },
  },
]

const streamed: readonly Behaviour[] = [
  {
    name: 'events of a turn',
    run: async () => {
      const thread = (await client(hi)).codex.startThread(inRepository())
      const events = await drain(thread, 'Hello, world!')
      const said = { id: expect.any(String), type: 'agent_message', text: 'Hi!' }
      expect(events).toMatchObject([
        { type: 'thread.started', thread_id: thread.id },
        { type: 'turn.started' },
        { type: 'item.completed', item: said },
        { type: 'turn.completed', usage },
      ])
    },
  },
  {
    name: 'the second turn sends what was said in the first',
    run: async () => {
      const used = await client(two)
      const thread = used.codex.startThread(inRepository())
      await drain(thread, 'first input')
      await drain(thread, 'second input')
      expectContinued(used)
    },
  },
  {
    name: 'a thread is resumed by its id',
    run: async () => {
      const used = await client(two)
      const options = inRepository()
      const first = used.codex.startThread(options)
      await drain(first, 'first input')
      const resumed = used.codex.resumeThread(first.id ?? '', options)
      await drain(resumed, 'second input')
      expect(resumed.id).toBe(first.id)
      expectContinued(used)
    },
  },
  {
    name: 'outputSchema is sent to the model',
    differs: 'a message off the schema is sent back',
    run: async (isCodex) => {
      const used = await client([[say('Structured response')], [say('{"answer":"it"}')]])
      await drain(used.codex.startThread(inRepository()), 'structured', { outputSchema: schema })
      expect(bodies(used.mock)[0]?.text?.format).toEqual(format)
      expect(used.mock.requests).toHaveLength(isCodex ? 1 : 2)
    },
  },
]

const aborted = (): AbortSignal => AbortSignal.abort('Test abort')

const abort: readonly Behaviour[] = [
  {
    name: 'run() with a signal that was aborted before',
    run: async () => {
      const { codex } = await client(hi)
      await expect(codex.startThread(inRepository()).run('go', { signal: aborted() })).rejects.toThrow()
    },
  },
  {
    name: 'runStreamed() with a signal that was aborted before has no events',
    run: async () => {
      const { codex } = await client(hi)
      const { events } = await codex.startThread(inRepository()).runStreamed('go', { signal: aborted() })
      await expect(events[Symbol.asyncIterator]().next()).rejects.toThrow()
    },
  },
  {
    name: 'run() is aborted while it runs',
    run: async () => {
      const { codex } = await client(['silence'])
      const running = codex.startThread(inRepository()).run('go', { signal: AbortSignal.timeout(10) })
      await expect(running).rejects.toThrow()
    },
  },
  {
    name: 'runStreamed() is aborted between its events',
    run: async () => {
      const { codex } = await client(['silence'])
      const controller = new AbortController()
      const { events } = await codex.startThread(inRepository()).runStreamed('go', { signal: controller.signal })
      const listening = (async () => {
        for await (const _ of events) controller.abort('enough')
      })()
      await expect(listening).rejects.toThrow()
    },
  },
  {
    name: 'a signal that is never aborted changes nothing',
    run: async () => {
      const { codex } = await client(hi)
      const { signal } = new AbortController()
      const { finalResponse, items } = await codex.startThread(inRepository()).run('go', { signal })
      expect([finalResponse, items]).toEqual(['Hi!', [expect.anything()]])
    },
  },
]

const exec: readonly Behaviour[] = [
  {
    name: 'an early exit rejects with what was said',
    run: async () => {
      const { codex } = await client(hi)
      const strange = codex.startThread(inRepository({ sandboxMode: 'none' })).run('go')
      await expect(strange).rejects.toThrow(/none/)
    },
  },
  {
    name: 'resume comes before the pictures',
    run: async () => {
      const file = picture()
      const used = await client(two)
      const options = inRepository()
      const first = used.codex.startThread(options)
      await first.run('first input')
      const resumed = used.codex.resumeThread(first.id ?? '', options)
      await resumed.run([
        { type: 'text', text: 'and this' },
        { type: 'local_image', path: file },
      ])
      expect(used.words().indexOf('resume')).toBeLessThan(used.words().indexOf('--image'))
      expect(JSON.stringify(bodies(used.mock)[1])).toContain('data:image/')
    },
  },
  {
    name: 'the environment is only what the client gives, with the key and the address',
    run: async () => {
      const { mock, words } = await turn({})
      expect(valuesOf(words(), '--config')).toContain(`openai_base_url=${JSON.stringify(mock.baseUrl)}`)
      expect(mock.requests[0]?.headers.authorization).toBe('Bearer test')
    },
  },
]

/** The behaviours that OpenAI's own tests of its SDK expect, in the order of these tests. */
export const sdkBehaviours: Readonly<Record<string, readonly Behaviour[]>> = {
  'run()': run,
  'runStreamed()': streamed,
  'aborted turns': abort,
  'the process': exec,
}
