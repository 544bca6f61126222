import { expect, onTestFinished, test } from 'vitest'
import { modelProviderSchema, openModel } from '../../../engine/models/index.ts'
import { startMockChat } from '../../support/mock-chat.ts'
import { say } from '../../support/mock-model.ts'
import type { Replies } from '../../support/mock-model.ts'
import { startMockOpenAI } from '../../support/mock-openai.ts'
import { collectFinished, noUsage, request } from './conversation.ts'

async function open(first: Replies, second: Replies, fallbackModels: readonly string[] = ['local/qwen3']) {
  const [openai, local] = [await startMockOpenAI({ replies: first }), await startMockChat({ replies: second })]
  onTestFinished(async () => {
    await openai.close()
    await local.close()
  })
  const model = await openModel('gpt-5.5', {
    env: { OPENAI_API_KEY: 'some-key' },
    cwd: '/',
    openaiBaseUrl: openai.baseUrl,
    modelProviders: { local: modelProviderSchema.parse({ base_url: local.baseUrl, wire_api: 'chat' }) },
    fallbackModels,
    retryBaseMs: 1,
    maxRetries: 1,
  })
  return { model, openai, local }
}

const down = { status: 503, body: { error: { message: 'down' } } }

test('the next model answers if the first one can’t, and keeps answering', async () => {
  const { model, openai } = await open(() => down, [[say('here')], [say('still here')]])
  expect(model.name).toBe('gpt-5.5')
  expect(await collectFinished(model)).toEqual([
    { type: 'retry', attempt: 1, of: 1, reason: 'OpenAI answered 503: down', waitMs: 1, failure: 'server' },
    {
      type: 'retry',
      attempt: 1,
      of: 1,
      reason: 'OpenAI answered 503: down (gave up after 1 retry); continuing with local/qwen3',
      waitMs: 0,
    },
    { type: 'message', text: 'here' },
    { type: 'end', usage: noUsage },
  ])
  expect(model.name).toBe('local/qwen3')
  expect((await collectFinished(model))[0]).toMatchObject({ text: 'still here' })
  expect(openai.requests).toHaveLength(2)
})

test('what the model that failed has used is counted, at its price', async () => {
  const refusal = {
    say: [say('bad')],
    usage: { input: 11, output: 7 },
    end: { type: 'incomplete', reason: 'content_filter' },
  }
  const { model } = await open([refusal] as unknown as Replies, [[say('here')]])
  const seen: unknown[] = []
  for await (const event of model.respond(request(), new AbortController().signal)) {
    if (event.type === 'retry') seen.push(model.name, event.spent?.inputTokens, event.spent?.outputTokens)
  }
  expect([...seen, model.name]).toEqual(['gpt-5.5', 11, 7, 'local/qwen3'])
})

test('when no model is left, the last failure is thrown', async () => {
  const { model } = await open(() => down, [{ status: 400, body: { error: { message: 'no' } } }])
  await expect(collectFinished(model)).rejects.toMatchObject({ code: 'provider', message: 'local answered 400: no' })
})

test('a history that is too long is not passed on to the next model', async () => {
  const overflow = { status: 400, body: { error: { message: 'too long', code: 'context_length_exceeded' } } }
  const { model, local } = await open([overflow], [[say('never')]])
  await expect(collectFinished(model)).rejects.toMatchObject({ failure: 'context-overflow' })
  expect(local.requests).toHaveLength(0)
})

test('a fallback that can’t be opened is refused before any request', async () => {
  await expect(open([], [], ['claude-sonnet-5'])).rejects.toThrow(/^Anthropic needs a key/)
})
