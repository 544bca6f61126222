import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { rewriteRequest, shownRequest } from '../../../engine/hooks/model-request.ts'
import type { ModelRequest } from '../../../engine/core/model.ts'
import { buildChatBody } from '../../../engine/models/chat-request.ts'
import { buildMessagesBody } from '../../../engine/models/messages-request.ts'
import { call, say, type Reply } from '../../support/mock-openai.ts'
import { needsBubblewrap, needsPrograms } from '../../support/needs.ts'
import { commands } from './hooks-support.ts'
import { done, items, run, toldModel, withHooks } from './run-support.ts'

const answers = (output: object): object => commands(undefined, `cat > /dev/null; echo '${JSON.stringify(output)}'`)
const wants = (specific: object): object => answers({ hookSpecificOutput: specific })
const refuses = (reason: string): object => commands(undefined, `echo "${reason}" >&2; exit 2`)
const texts = (ended: Parameters<typeof items>[0]): readonly string[] =>
  items(ended).flatMap((item) => (item.type === 'agent_message' ? [item.text] : []))

type Body = {
  readonly model: string
  readonly temperature?: number
  readonly top_p?: number
  readonly max_output_tokens?: number
  readonly tools: readonly { readonly name: string }[]
}
const bodyOf = ({ requests }: { readonly requests: readonly { readonly body: unknown }[] }, at = 0): Body =>
  requests[at]?.body as Body

describe.skipIf(needsBubblewrap() || needsPrograms('jq'))('a BeforeModel hook', () => {
  test('refuses a request, which is never sent', async () => {
    const ended = await withHooks({ BeforeModel: [refuses('not at night')] }, [done])
    expect([ended.code, ended.requests.length]).toEqual([3, 0])
    expect(ended.stderr).toContain('not at night')
  })

  test('answers in the model’s place', async () => {
    const response = { candidates: [{ content: { role: 'model', parts: ['from the ', 'cache'] } }] }
    const ended = await withHooks({ BeforeModel: [wants({ llm_response: response })] }, [done])
    expect([ended.code, ended.requests.length]).toEqual([0, 0])
    expect(texts(ended)).toEqual(['from the cache'])
  })

  test('chooses another model, which is billed at its own price', async () => {
    const price = `model_prices={"gpt-5.5"={input=1.0,output=1.0},"gpt-5.5-mini"={input=1000.0,output=1000.0}}`
    const reply: Reply = { say: [say('done')], usage: { input: 1000, output: 1000 } }
    const ended = await withHooks({ BeforeModel: [wants({ llm_request: { model: 'gpt-5.5-mini' } })] }, [reply], {
      args: ['-c', price],
    })
    expect(ended.code, ended.stderr).toBe(0)
    expect(bodyOf(ended).model).toBe('gpt-5.5-mini')
    expect(ended.events.at(-1)).toMatchObject({ cost_usd: 2 })
  })

  test('sets sampling parameters', async () => {
    const config = { temperature: 0.2, topP: 0.9, maxOutputTokens: 500 }
    const ended = await withHooks({ BeforeModel: [wants({ llm_request: { config } })] }, [done])
    expect(bodyOf(ended)).toMatchObject({ temperature: 0.2, top_p: 0.9, max_output_tokens: 500 })
  })

  test('rewords messages in every request, and the session keeps the original', async () => {
    const redact = `jq '{hookSpecificOutput: {llm_request: (.llm_request | .messages |= map(.content |= gsub("hunter2"; "[redacted]")))}}'`
    const replies = [[say('I saw hunter2'), call('exec_command', { cmd: 'true' })], done]
    const ended = await withHooks({ BeforeModel: [commands(undefined, redact)] }, replies, {
      prompt: 'the password is hunter2',
    })
    expect([ended.code, ended.requests.length], ended.stderr).toEqual([0, 2])
    expect(JSON.stringify(ended.requests.map(({ body }) => body))).not.toContain('hunter2')
    expect(toldModel(ended)).toContain('I saw [redacted]')
    const [first] = ended.events
    const folder = first?.type === 'thread.started' ? first.config.session_dir : ''
    expect(readFileSync(join(folder, 'rollout.jsonl'), 'utf8')).toContain('hunter2')
  })

  test('adds to the request', async () => {
    const add = `jq '{hookSpecificOutput: {llm_request: {messages: (.llm_request.messages + [{role: "user", content: "be brief"}])}}}'`
    const ended = await withHooks({ BeforeModel: [commands(undefined, add)] }, [done])
    expect(toldModel(ended)).toContain('be brief')
  })

  const impossible = {
    'leaves messages out': [{ messages: [{ role: 'user', content: 'only this' }] }, 'removed or moved'],
    'sets what no model here has': [{ config: { topK: 3 } }, 'topK'],
    'names a model that nobody offers': [{ model: 'nobody/nothing' }, 'nobody/nothing'],
  } as const
  for (const [name, [request, says]] of Object.entries(impossible)) {
    test(`that ${name} ends the run, so that nothing else is sent`, async () => {
      const ended = await withHooks({ BeforeModel: [wants({ llm_request: request })] }, [done])
      expect([ended.code, ended.requests.length]).toEqual([3, 0])
      expect(ended.stderr).toContain(says)
    })
  }

  test('also applies to the requests of the run’s agents', async () => {
    const refuse = `grep -q 'the agent task' && { echo "no agents" >&2; exit 2; }; exit 0`
    const hand = [call('agent', { title: 'work', prompt: 'the agent task' }), call('wait_agents', {})]
    const ended = await withHooks({ BeforeModel: [commands(undefined, refuse)] }, [hand, done])
    expect(ended.requests).toHaveLength(1)
    expect(ended.stderr).toContain('no agents')
  })
})

describe.skipIf(needsBubblewrap())('a BeforeToolSelection hook', () => {
  test('leaves tools out, and the model can’t call them', async () => {
    const only = wants({ toolConfig: { mode: 'ANY', allowedFunctionNames: ['read_file'] } })
    const ended = await withHooks({ BeforeToolSelection: [only] }, [run('touch ran'), done])
    expect(bodyOf(ended).tools.map(({ name }) => name)).toEqual(['read_file'])
    expect(toldModel(ended)).toContain('a hook allows only these tools: read_file')
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
  })

  test('adds to the tools that another hook leaves, unless one leaves none', async () => {
    const [one, other] = ['read_file', 'grep'].map((name) => wants({ toolConfig: { allowedFunctionNames: [name] } }))
    const both = await withHooks({ BeforeToolSelection: [one, other] }, [done])
    expect(bodyOf(both).tools.map(({ name }) => name)).toEqual(['grep', 'read_file'])
    const none = await withHooks({ BeforeToolSelection: [one, wants({ toolConfig: { mode: 'NONE' } })] }, [done])
    expect(bodyOf(none).tools).toEqual([])
  })
})

describe.skipIf(needsBubblewrap() || needsPrograms('jq'))('an AfterModel hook', () => {
  test('reads an answer, and can end the run before anybody else reads it', async () => {
    const mind = `grep -q '"text":"the s[e]cret"' && { echo "too much" >&2; exit 2; }; exit 0`
    const replies = [[say('the secret'), call('exec_command', { cmd: 'touch ran' })], done]
    const ended = await withHooks({ AfterModel: [commands(undefined, mind)] }, replies)
    expect([ended.code, ended.requests.length]).toEqual([3, 1])
    expect(ended.stderr).toContain('too much')
    expect(ended.stdout + ended.stderr).not.toContain('the secret')
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(false)
  })

  test('rewords an answer, and the calls stay the same', async () => {
    const redact = `jq '{hookSpecificOutput: {llm_response: (.llm_response | .candidates[0].content.parts |= map(gsub("hunter2"; "[redacted]")))}}'`
    const replies = [[say('it is hunter2'), call('exec_command', { cmd: 'touch ran' })], done]
    const ended = await withHooks({ AfterModel: [commands(undefined, redact)] }, replies)
    expect(texts(ended)).toEqual(['it is [redacted]', 'done'])
    expect(toldModel(ended)).not.toContain('hunter2')
    expect(existsSync(join(ended.cwd, 'ran'))).toBe(true)
  })

  test('that fails withholds the answer', async () => {
    const ended = await withHooks({ AfterModel: [commands(undefined, 'exit 1')] }, [[say('the secret')]])
    expect(ended.code).toBe(3)
    expect(ended.stdout).not.toContain('the secret')
  })
})

describe('a request in the form that hooks see and change', () => {
  const request: ModelRequest = {
    instructions: 'be good',
    tools: [],
    threadId: 'a',
    history: [
      { type: 'message', role: 'developer', text: 'here' },
      { type: 'message', role: 'user', text: 'go' },
      { type: 'tool_call', call: { id: '1', name: 'shell', kind: 'function', input: '{}' } },
      { type: 'tool_result', callId: '1', output: 'ok', ok: true },
      { type: 'message', role: 'assistant', text: 'so' },
    ],
  }

  test('a request that a hook returns unchanged changes nothing', () => {
    const shown = shownRequest('gpt-5.5', request)
    expect(shown.messages.map(({ role }) => role)).toEqual(['system', 'system', 'user', 'model'])
    expect(rewriteRequest('gpt-5.5', request, shown)).toEqual({ model: undefined, request })
  })

  test('every wire format accepts the settings', () => {
    const sampled = { ...request, sampling: { temperature: 0, topP: 0.5, maxOutputTokens: 7 } }
    expect(buildChatBody('m', sampled)).toMatchObject({ temperature: 0, top_p: 0.5, max_tokens: 7 })
    expect(buildMessagesBody('claude-sonnet-4-5', sampled)).toMatchObject({ temperature: 0, top_p: 0.5, max_tokens: 7 })
  })
})
