import { describe, expect, onTestFinished, test } from 'vitest'
import type { HistoryItem, Model } from '../../../engine/core/model.ts'
import { openModel } from '../../../engine/models/index.ts'
import type { ModelOptions } from '../../../engine/models/index.ts'
import { call, frame, freeform, say, startMockOpenAI, think } from '../../support/mock-openai.ts'
import type { MockOpenAI, Reply } from '../../support/mock-openai.ts'
import { collect, collectFinished, noUsage, request } from './conversation.ts'

const key = 'sk-test-5ecret'

async function start(
  replies: readonly Reply[],
  change: Partial<ModelOptions> = {},
): Promise<{ mock: MockOpenAI; model: Model }> {
  const mock = await startMockOpenAI({ replies })
  onTestFinished(() => mock.close())
  const model = await openModel('gpt-5.5', {
    env: { OPENAI_API_KEY: key },
    cwd: '/',
    openaiBaseUrl: mock.baseUrl,
    retryBaseMs: 1,
    ...change,
  })
  return { mock, model }
}

/** Returns the reason for a model's first retry; `nothing` if it doesn't retry. Rejects if the model throws an error. */
async function complaintOf(model: Model): Promise<string> {
  for await (const event of model.respond(request(), new AbortController().signal)) {
    if (event.type === 'retry') return event.reason
  }
  return 'nothing'
}

describe('what is sent', () => {
  test('the request contains the whole conversation in the Responses format', async () => {
    const { mock, model } = await start([[think('', 'gAAAA'), say('hm')], [say('ok')]])
    await collect(model)
    const reasoning = {
      from: 'openai-responses',
      item: { type: 'reasoning', id: 'item_0_0', summary: [], encrypted_content: 'gAAAA' },
    }
    const history: readonly HistoryItem[] = [
      { type: 'message', role: 'developer', text: 'rules' },
      { type: 'message', role: 'user', text: 'go' },
      { type: 'reasoning', text: '', opaque: reasoning },
      { type: 'reasoning', text: 'from elsewhere', opaque: { from: 'anthropic-messages', block: {} } },
      { type: 'message', role: 'assistant', text: 'looking' },
      { type: 'tool_call', call: { id: 'c1', name: 'exec_command', kind: 'function', input: '{"cmd":"ls"}' } },
      { type: 'tool_call', call: { id: 'c2', name: 'apply_patch', kind: 'freeform', input: '*** Begin Patch' } },
      { type: 'tool_result', callId: 'c1', output: 'a.ts', ok: true },
      { type: 'tool_result', callId: 'c2', output: 'no', ok: false },
    ]
    await collect(model, request({ history, reasoningEffort: 'high' }))
    expect(mock.requests[1]?.path).toBe('/v1/responses')
    expect(mock.requests[1]?.headers.authorization).toBe(`Bearer ${key}`)
    expect(mock.requests[1]?.body).toEqual({
      model: 'gpt-5.5',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'rules' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
        reasoning.item,
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'looking' }] },
        { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{"cmd":"ls"}' },
        { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'function_call_output', call_id: 'c1', output: 'a.ts' },
        { type: 'custom_tool_call_output', call_id: 'c2', output: 'no' },
      ],
      tools: [
        {
          type: 'function',
          name: 'exec_command',
          description: 'Runs a command.',
          parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
          strict: false,
        },
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Applies a patch.',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' },
        },
      ],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'thread-1',
      reasoning: { effort: 'high' },
    })
  })

  test('gateways learn which program asks, by the header that Codex has for it', async () => {
    const originator = async (env: Readonly<Record<string, string>>): Promise<unknown> => {
      const { mock, model } = await start([[say('ok')]], { env: { OPENAI_API_KEY: key, ...env } })
      await collect(model)
      return mock.requests[0]?.headers['originator']
    }
    expect(await originator({})).toBe('portcullis_exec')
    expect(await originator({ CODEX_INTERNAL_ORIGINATOR_OVERRIDE: 'codex_sdk_ts' })).toBe('codex_sdk_ts')
  })

  test('reasoning is sent back as it arrived', async () => {
    const { mock, model } = await start([[think('Thinking.', 'secret-blob'), say('one')], [say('two')]])
    const events = await collectFinished(model)
    const reasoning = events.find((event) => event.type === 'reasoning')
    if (reasoning === undefined) throw new Error('no reasoning')
    // The conversation passes through a session file, so opaque data must survive JSON.
    const kept = JSON.parse(JSON.stringify(reasoning)) as typeof reasoning
    const next: HistoryItem = { type: 'message', role: 'assistant', text: 'one' }
    await collect(model, request({ history: [kept, next] }))
    expect(mock.requests[1]?.body).toMatchObject({
      input: [
        {
          type: 'reasoning',
          id: 'item_0_0',
          summary: [{ type: 'summary_text', text: 'Thinking.' }],
          encrypted_content: 'secret-blob',
        },
        { content: [{ text: 'one' }] },
      ],
    })
  })

  test('images are sent with the text, and with results', async () => {
    const { mock, model } = await start([[say('ok')]])
    const images = [{ mediaType: 'image/png', data: 'aGk=' }]
    const history: HistoryItem[] = [
      { type: 'message', role: 'user', text: 'See?', images },
      { type: 'tool_call', call: { id: 'c1', name: 'view_image', kind: 'function', input: '{}' } },
      { type: 'tool_result', callId: 'c1', output: '', ok: true, images },
    ]
    await collect(model, request({ history }))
    const image = { type: 'input_image', image_url: 'data:image/png;base64,aGk=', detail: 'auto' }
    expect(mock.requests[0]?.body).toMatchObject({
      input: [
        { content: [{ type: 'input_text', text: 'See?' }, image] },
        { type: 'function_call' },
        { output: [image] },
      ],
    })
  })

  test.each([
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }, true],
    [{ type: 'object', properties: { a: { type: 'string' } }, additionalProperties: false }, false],
    [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }, false],
    [
      {
        type: 'object',
        properties: { type: { type: ['object', 'null'] } },
        required: ['type'],
        additionalProperties: false,
      },
      false,
    ],
  ])('a schema is strict if the provider can enforce it: %j', async (schema, strict) => {
    const { mock, model } = await start([[say('{}')]])
    await collect(model, request({ outputSchema: { name: 'answer', schema } }))
    expect(mock.requests[0]?.body).toMatchObject({
      text: { format: { type: 'json_schema', name: 'answer', strict, schema } },
    })
  })

  test.each([
    ['gpt-5.5', 'custom'],
    ['gpt-5.3-codex', 'custom'],
    ['gpt-10', 'custom'],
    ['openai/gpt-6-mini', 'custom'],
    ['gpt-4.1', 'function'],
    ['o3', 'function'],
    ['openai/qwen3', 'function'],
  ])('%s gets a freeform tool as %s', async (name, type) => {
    const mock = await startMockOpenAI({ replies: [[say('ok')]] })
    onTestFinished(() => mock.close())
    await collect(await openModel(name, { env: { OPENAI_API_KEY: key }, cwd: '/', openaiBaseUrl: mock.baseUrl }))
    expect(mock.requests[0]?.body).toMatchObject({ tools: [{ type: 'function' }, { type, name: 'apply_patch' }] })
  })

  test('a model that does not reason is not asked for its reasoning', async () => {
    const mock = await startMockOpenAI({ replies: [[say('ok')]] })
    onTestFinished(() => mock.close())
    await collect(await openModel('gpt-4.1', { env: { OPENAI_API_KEY: key }, cwd: '/', openaiBaseUrl: mock.baseUrl }))
    expect(mock.requests[0]?.body).toMatchObject({ include: [] })
  })
})

describe('what is understood', () => {
  const everything: Reply = {
    say: [
      think('Look first.', 'blob'),
      say('Ich prüfe das – 今すぐ 🚀.'),
      call('exec_command', { cmd: 'echo "é"' }, 'c1'),
      freeform('apply_patch', '*** Begin Patch\n*** Add File: ü.txt\n+🚪\n*** End Patch\n', 'c2'),
      call('exec_command', 'not json', 'c3'),
    ],
    usage: { input: 100, cached: 60, cacheWrite: 7, output: 20, reasoning: 5 },
  }
  const understood = [
    { type: 'reasoning', text: 'Look first.', opaque: { from: 'openai-responses' } },
    { type: 'message', text: 'Ich prüfe das – 今すぐ 🚀.' },
    { type: 'tool_call', call: { id: 'c1', name: 'exec_command', kind: 'function', input: '{"cmd":"echo \\"é\\""}' } },
    {
      type: 'tool_call',
      call: {
        id: 'c2',
        name: 'apply_patch',
        kind: 'freeform',
        input: '*** Begin Patch\n*** Add File: ü.txt\n+🚪\n*** End Patch\n',
      },
    },
    { type: 'tool_call', call: { id: 'c3', name: 'exec_command', kind: 'function', input: 'not json' } },
    {
      type: 'end',
      usage: {
        inputTokens: 100,
        cachedInputTokens: 60,
        cacheWriteInputTokens: 7,
        outputTokens: 20,
        reasoningOutputTokens: 5,
      },
    },
  ]

  test('every kind of item', async () => {
    const { model } = await start([everything])
    expect(await collectFinished(model)).toMatchObject(understood)
  })

  test('the phase of a message is sent back with it', async () => {
    const { mock, model } = await start([[{ type: 'text', text: 'Looking.', phase: 'commentary' }], [say('ok')]])
    const [message] = await collectFinished(model)
    expect(message).toEqual({ type: 'message', text: 'Looking.', phase: 'commentary' })
    const history: HistoryItem[] = [{ type: 'message', role: 'assistant', text: 'Looking.', phase: 'commentary' }]
    await collect(model, request({ history }))
    expect(mock.requests[1]?.body).toMatchObject({ input: [{ role: 'assistant', phase: 'commentary' }] })
  })

  test('events of unknown kinds are ignored, and items are kept', async () => {
    const frames = [
      frame({ type: 'response.shiny', thing: 1 }),
      frame({ type: 'response.output_item.done', item: { type: 'file_search_call', id: 'fs_1' } }),
      frame({ type: 'response.completed', response: {} }),
    ]
    const { model } = await start([{ frames }])
    const opaque = { from: 'openai-responses', model: 'gpt-5.5', item: { type: 'file_search_call', id: 'fs_1' } }
    expect(await collect(model)).toEqual([
      { type: 'reasoning', text: '', opaque },
      { type: 'end', usage: noUsage },
    ])
  })
})

describe('failures that are specific to this wire', () => {
  test.each<readonly [string, Reply, RegExp]>([
    [
      'a failed response',
      { say: [say('half')], end: { type: 'failed', code: 'server_error', message: 'An error occurred' } },
      /^OpenAI failed: An error occurred$/,
    ],
    [
      'a limit named in the stream',
      { say: [], end: { type: 'failed', code: 'rate_limit_exceeded', message: 'Please try again in 1ms.' } },
      /^OpenAI failed: Please try again/,
    ],
    ['an event without a type', { frames: ['data: {"delta":"x"}\n\n'] }, /^OpenAI sent a malformed stream: an event: /],
    [
      'a call without an id',
      {
        frames: [
          frame({ type: 'response.output_item.done', item: { type: 'function_call', name: 'x', arguments: '{}' } }),
        ],
      },
      /^OpenAI sent a malformed stream: a function call: .*call_id/,
    ],
  ])('%s is repeated', async (_, reply, reason) => {
    const { model } = await start([reply, [say('fine')]])
    expect(await complaintOf(model)).toMatch(reason)
  })

  test.each<readonly [string, Reply, string]>([
    [
      'a too long history, reported in the stream',
      { say: [], end: { type: 'failed', code: 'context_length_exceeded', message: 'too long' } },
      'context-overflow',
    ],
    ['a refused prompt', { say: [], end: { type: 'failed', code: 'invalid_prompt', message: 'flagged' } }, 'refused'],
    ['an empty account', { say: [], end: { type: 'failed', code: 'insufficient_quota', message: 'pay' } }, 'quota'],
  ])('%s is final', async (_, reply, failure) => {
    const { model } = await start([reply, [say('never asked')]])
    await expect(complaintOf(model)).rejects.toMatchObject({ code: 'provider', failure })
  })
})
