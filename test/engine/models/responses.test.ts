import { describe, expect, onTestFinished, test } from 'vitest'
import { ModelError } from '../../../engine/model.ts'
import type { HistoryItem, Model } from '../../../engine/model.ts'
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

async function failureOf(model: Model, signal?: AbortSignal): Promise<ModelError> {
  const error: unknown = await collect(model, request(), signal).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`)
  return error
}

describe('what is sent', () => {
  test('the request carries the whole conversation in the Responses format', async () => {
    const { mock, model } = await start([[say('ok')]])
    const reasoning = {
      from: 'openai-responses',
      item: { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' },
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
    expect(mock.requests[0]?.path).toBe('/v1/responses')
    expect(mock.requests[0]?.headers.authorization).toBe(`Bearer ${key}`)
    expect(mock.requests[0]?.body).toEqual({
      model: 'gpt-5.5',
      instructions: 'Be brief.',
      input: [
        { type: 'message', role: 'developer', content: 'rules' },
        { type: 'message', role: 'user', content: 'go' },
        reasoning.item,
        { type: 'message', role: 'assistant', content: 'looking' },
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

  test('reasoning goes back as it came', async () => {
    const { mock, model } = await start([[think('Thinking.', 'secret-blob'), say('one')], [say('two')]])
    const events = await collectFinished(model)
    const reasoning = events.find((event) => event.type === 'reasoning')
    if (reasoning === undefined) throw new Error('no reasoning')
    // A session file stands between two runs: what is opaque must survive JSON.
    const kept = JSON.parse(JSON.stringify(reasoning)) as typeof reasoning
    await collect(model, request({ history: [kept] }))
    expect(mock.requests[1]?.body).toMatchObject({
      input: [
        {
          type: 'reasoning',
          id: 'item_0_0',
          summary: [{ type: 'summary_text', text: 'Thinking.' }],
          encrypted_content: 'secret-blob',
        },
      ],
    })
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

  test.each([1, 2, 3, 7, 64, undefined])('a response is the same in pieces of %s bytes', async (chunkBytes) => {
    const { model } = await start([
      { ...everything, ...(chunkBytes === undefined ? {} : { delivery: { chunkBytes } }) },
    ])
    expect(await collectFinished(model)).toMatchObject(understood)
  })

  test('deltas add up to the message', async () => {
    const { model } = await start([everything])
    const deltas = (await collect(model)).flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.join('')).toBe('Ich prüfe das – 今すぐ 🚀.')
  })

  test('events and items of unknown kinds are passed over', async () => {
    const frames = [
      frame({ type: 'response.shiny', thing: 1 }),
      frame({ type: 'response.output_item.done', item: { type: 'web_search_call', id: 'ws_1' } }),
      frame({ type: 'response.completed', response: {} }),
    ]
    const { model } = await start([{ frames }])
    expect(await collect(model)).toEqual([{ type: 'end', usage: noUsage }])
  })
})

describe('failures worth repeating', () => {
  const transient: readonly (readonly [string, Reply, RegExp])[] = [
    [
      'a 500',
      { status: 500, body: { error: { message: 'The server had an error' } } },
      /^OpenAI answered 500: The server had an error$/,
    ],
    [
      'a 502 of a proxy',
      { status: 502, body: '<html>\n<h1>Bad gateway</h1>' },
      /^OpenAI answered 502: <html> <h1>Bad gateway<\/h1>$/,
    ],
    ['a 503 without a body', { status: 503, body: '' }, /^OpenAI answered 503: status code \(no body\)$/],
    ['a 408', { status: 408, body: { error: { message: 'slow' } } }, /^OpenAI answered 408: slow$/],
    ['a 409', { status: 409, body: { error: { message: 'conflict' } } }, /^OpenAI answered 409: conflict$/],
    [
      'a 429',
      { status: 429, body: { error: { message: 'Rate limit reached', code: 'rate_limit_exceeded' } } },
      /^OpenAI answered 429: Rate limit reached$/,
    ],
    [
      'a failed response',
      { say: [say('half')], end: { type: 'failed', code: 'server_error', message: 'An error occurred' } },
      /^OpenAI failed: An error occurred$/,
    ],
    [
      'an error in the stream',
      { say: [], end: { type: 'error', code: 'server_is_overloaded', message: 'Busy' } },
      /^OpenAI failed: Busy$/,
    ],
    [
      'an incomplete response',
      { say: [], end: { type: 'incomplete', reason: 'max_output_tokens' } },
      /^OpenAI ended its response early: max_output_tokens$/,
    ],
    [
      'a stream without its end',
      { say: [say('half')], end: { type: 'missing' } },
      /^OpenAI cut the stream before its last event$/,
    ],
    [
      'a cut connection',
      { say: [say('a long enough text')], delivery: { cutAfter: 5 } },
      /^OpenAI cut the stream before its last event \(.+\)$/,
    ],
    ['a cut before any event', { say: [], delivery: { cutAfter: 0 } }, /^OpenAI cut the stream before its last event/],
    [
      'an event that is not JSON',
      { frames: ['event: response.created\ndata: {"type":\n\n'] },
      /^OpenAI sent a malformed stream: /,
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
  ]

  test.each(transient)('%s is repeated, and announced', async (_, reply, reason) => {
    const { mock, model } = await start([reply, [say('fine')]])
    const events = await collectFinished(model)
    expect(events.slice(-3)).toEqual([
      { type: 'retry', attempt: 1, of: 5, reason: expect.stringMatching(reason) as string, waitMs: 1 },
      { type: 'message', text: 'fine' },
      { type: 'end', usage: noUsage },
    ])
    expect(mock.requests[1]?.body).toEqual(mock.requests[0]?.body)
  })

  test('a stream that stalls is given up and repeated', async () => {
    const stalling: Reply = { say: [say('a long enough text')], delivery: { stallAfter: 5 } }
    const { model } = await start([stalling, [say('fine')]], { streamIdleTimeoutMs: 50 })
    const retry = (await collect(model)).find((event) => event.type === 'retry')
    expect(retry?.reason).toBe('OpenAI stopped sending for 0.05 s in the middle of a stream')
  })

  test('a server that never answers is given up and repeated', async () => {
    const { model } = await start(['silence', [say('fine')]], { connectTimeoutMs: 50 })
    const retry = (await collect(model)).find((event) => event.type === 'retry')
    expect(retry?.reason).toBe('OpenAI did not answer within 0.05 s')
  })

  test('the wait that the provider asks for is kept', async () => {
    const refusal: Reply = {
      status: 429,
      headers: { 'retry-after-ms': '3' },
      body: { error: { message: 'slow down' } },
    }
    const { model } = await start([refusal, [say('fine')]], { retryBaseMs: 60_000 })
    const retry = (await collect(model)).find((event) => event.type === 'retry')
    expect(retry?.waitMs).toBe(3)
  })

  test('a wait beyond the budget is not begun', async () => {
    const refusal: Reply = { status: 429, headers: { 'retry-after': '3600' }, body: { error: { message: 'later' } } }
    const { mock, model } = await start([refusal], { retryBudgetMs: 60_000 })
    const error = await failureOf(model)
    expect(error.message).toBe(
      'OpenAI answered 429: later (gave up: it asks to wait 3600 s, and 0 s of the 60 s for waiting are used)',
    )
    expect(mock.requests).toHaveLength(1)
  })

  test('after the last repeat the failure is final', async () => {
    const down: Reply = { status: 503, body: { error: { message: 'down' } } }
    const { mock, model } = await start([down, down, down], { maxRetries: 2 })
    const error = await failureOf(model)
    expect(error).toMatchObject({ code: 'provider', failure: 'server', status: 503 })
    expect(error.message).toBe('OpenAI answered 503: down (gave up after 2 retries)')
    expect(mock.requests).toHaveLength(3)
  })

  test('a server that is not there is named with its address', async () => {
    const { mock, model } = await start([], { maxRetries: 1 })
    await mock.close()
    const error = await failureOf(model)
    expect(error.failure).toBe('connection')
    expect(error.message).toMatch(
      /^OpenAI can't be reached at http:\/\/127\.0\.0\.1:\d+\/v1: .*ECONNREFUSED.* \(gave up after 1 retry\)$/,
    )
  })
})

describe('failures that end it at once', () => {
  const final: readonly (readonly [string, Reply, string, Partial<ModelError>])[] = [
    [
      'a 400',
      { status: 400, body: { error: { message: 'Unknown parameter' } } },
      'OpenAI answered 400: Unknown parameter',
      { failure: 'refused', status: 400 },
    ],
    [
      'a 401',
      { status: 401, body: { error: { message: `Incorrect API key provided: ${key}.` } } },
      'OpenAI answered 401: Incorrect API key provided: [key].',
      { failure: 'authentication', status: 401 },
    ],
    [
      'a 403',
      { status: 403, body: { error: { message: 'no' } } },
      'OpenAI answered 403: no',
      { failure: 'authentication' },
    ],
    [
      'a 404',
      { status: 404, body: { error: { message: 'no model' } } },
      'OpenAI answered 404: no model',
      { failure: 'refused' },
    ],
    [
      'a 422 in other words',
      { status: 422, body: { detail: 'nope' } },
      'OpenAI answered 422: {"detail":"nope"}',
      { failure: 'refused' },
    ],
    [
      'an empty account',
      { status: 429, body: { error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } } },
      'OpenAI answered 429: You exceeded your current quota',
      { failure: 'quota' },
    ],
    [
      'a 5xx that says so',
      { status: 500, headers: { 'x-should-retry': 'false' }, body: { error: { message: 'never' } } },
      'OpenAI answered 500: never',
      { failure: 'server' },
    ],
    [
      'a history that is too long',
      { status: 400, body: { error: { message: 'too long', code: 'context_length_exceeded' } } },
      'OpenAI answered 400: too long',
      { failure: 'context-overflow' },
    ],
    [
      'one found in the stream',
      {
        say: [],
        end: { type: 'failed', code: 'context_length_exceeded', message: 'Your input exceeds the context window' },
      },
      'OpenAI failed: Your input exceeds the context window',
      { failure: 'context-overflow' },
    ],
    [
      'a refused prompt',
      { say: [], end: { type: 'failed', code: 'invalid_prompt', message: 'flagged' } },
      'OpenAI failed: flagged',
      { failure: 'refused' },
    ],
    [
      'a filtered answer',
      { say: [], end: { type: 'incomplete', reason: 'content_filter' } },
      'OpenAI ended its response early: content_filter',
      { failure: 'filtered' },
    ],
  ]

  test.each(final)('%s', async (_, reply, message, facts) => {
    const { mock, model } = await start([reply, [say('never asked')]])
    const error = await failureOf(model)
    expect(error.message).toBe(message)
    expect(error).toMatchObject({ code: 'provider', ...facts })
    expect(mock.requests).toHaveLength(1)
  })
})

describe('stopping', () => {
  const why = new Error('the run is over')

  test.each([
    ['before asking', { say: [say('x')] }, 0],
    ['while waiting for the headers', 'silence', 30],
    ['in the middle of a stream', { say: [say('a long enough text')], delivery: { stallAfter: 5 } }, 30],
    ['while waiting to repeat', { status: 429, headers: { 'retry-after': '60' }, body: {} }, 30],
  ] as const)('an abort %s throws its reason', async (_, reply, afterMs) => {
    const { model } = await start([reply])
    const controller = new AbortController()
    if (afterMs === 0) controller.abort(why)
    else setTimeout(() => controller.abort(why), afterMs)
    await expect(collect(model, request(), controller.signal)).rejects.toBe(why)
  })

  test('a reader who stops closes the connection', async () => {
    const { mock, model } = await start([{ say: [say('a long enough text')], delivery: { stallAfter: 6 } }])
    for await (const event of model.respond(request(), new AbortController().signal)) {
      expect(event.type).toBe('text_delta')
      break
    }
    await mock.requests[0]?.over
  })
})
