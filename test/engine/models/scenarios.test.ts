import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { ModelError } from '../../../engine/core/model.ts'
import type { HistoryItem, Model, ModelEvent, ModelRequest } from '../../../engine/core/model.ts'
import { messageFrames } from '../../support/mock-anthropic.ts'
import { completionFrames } from '../../support/mock-chat.ts'
import { call, say, think } from '../../support/mock-model.ts'
import type { Reply } from '../../support/mock-model.ts'
import { responseFrames } from '../../support/mock-openai.ts'
import { collect, collectFinished, noUsage, request } from './conversation.ts'
import { key, startWire, wires, type WireUnderTest } from './wires.ts'

async function failureOf(model: Model): Promise<ModelError> {
  const error: unknown = await collect(model).catch((thrown: unknown) => thrown)
  if (!(error instanceof ModelError)) throw new Error(`expected a ModelError, got ${String(error)}`)
  return error
}

/** The history as a run loop stores it: what the model said, then the result of each of its calls. */
function remember(events: readonly ModelEvent[], results: (name: string) => string): HistoryItem[] {
  const said = events.flatMap((event): HistoryItem[] => {
    if (event.type === 'message') return [{ ...event, role: 'assistant' }]
    return event.type === 'reasoning' || event.type === 'tool_call' ? [event] : []
  })
  const answers = said.flatMap((item): HistoryItem[] =>
    item.type === 'tool_call'
      ? [{ type: 'tool_result', callId: item.call.id, output: results(item.call.name), ok: true }]
      : [],
  )
  return [...said, ...answers]
}

const mapped = (counts: Record<string, unknown>, change: (count: unknown) => unknown): unknown =>
  Object.fromEntries(
    Object.entries(counts).map(([name, count]) => [name, typeof count === 'number' ? change(count) : count]),
  )

/** An answer whose counts of tokens are changed on their way. */
function withCounts({ wire }: WireUnderTest, change: (counts: Record<string, unknown>) => unknown): Reply {
  const spoken = { say: [say('fine')], usage: { input: 70, output: 9 } }
  const makers = { Responses: responseFrames, 'Chat Completions': completionFrames, Messages: messageFrames }
  const changed = (_: string, value: unknown): unknown =>
    typeof value === 'object' && value !== null && 'usage' in value && value.usage !== null
      ? { ...value, usage: change(value.usage as Record<string, unknown>) }
      : value
  const frames = makers[wire as keyof typeof makers](spoken, 0).map((frame) =>
    frame.replace(/data: (\{.*\})/, (__, json: string) => `data: ${JSON.stringify(JSON.parse(json), changed)}`),
  )
  return { frames }
}

describe.each(wires)('$wire: what is understood', (wire) => {
  const reply: Reply = {
    say: [
      think('Erst schauen 👀.', 'signature'),
      say('Ich prüfe das – 今すぐ 🚀.'),
      call('exec_command', { cmd: 'echo "é"' }, 'c1'),
      call('exec_command', { cmd: 'ls', deep: { list: [1, null, '🚪'] } }, 'c2'),
      call('exec_command', '{}', 'c3'),
    ],
    usage: { input: 100, cached: 60, output: 20, reasoning: 5 },
  }
  const input = (value: object): string => JSON.stringify(value)
  const understood = [
    { type: 'reasoning', text: 'Erst schauen 👀.' },
    { type: 'message', text: 'Ich prüfe das – 今すぐ 🚀.' },
    {
      type: 'tool_call',
      call: { id: 'c1', name: 'exec_command', kind: 'function', input: input({ cmd: 'echo "é"' }) },
    },
    { type: 'tool_call', call: { id: 'c2', input: input({ cmd: 'ls', deep: { list: [1, null, '🚪'] } }) } },
    { type: 'tool_call', call: { id: 'c3', input: '{}' } },
    {
      type: 'end',
      usage: { ...noUsage, inputTokens: 100, cachedInputTokens: 60, outputTokens: 20, reasoningOutputTokens: 5 },
    },
  ]

  test.each([1, 2, 3, 7, 64, undefined])('the same in pieces of %s bytes', async (chunkBytes) => {
    const delivery = chunkBytes === undefined ? {} : { chunkBytes }
    const { model } = await startWire(wire, [{ ...reply, delivery }])
    expect(await collectFinished(model)).toMatchObject(understood)
  })

  test('deltas add up to the message', async () => {
    const { model } = await startWire(wire, [reply])
    const deltas = (await collect(model)).flatMap((event) => (event.type === 'text_delta' ? [event.text] : []))
    expect(deltas.length).toBeGreaterThan(1)
    expect(deltas.join('')).toBe('Ich prüfe das – 今すぐ 🚀.')
  })

  test('a call that comes twice in a response is one call, and a repeated id otherwise becomes another', async () => {
    const calls = [call('ls', { a: 1 }, 'c1'), call('ls', { a: 1 }, 'c1'), call('ls', { a: 2 }, 'c1')]
    const { model } = await startWire(wire, [calls, calls])
    const first = await collectFinished(model)
    const ids = (events: readonly ModelEvent[]): readonly string[] =>
      events.flatMap((event) => (event.type === 'tool_call' ? [`${event.call.id} ${event.call.input}`] : []))
    expect(ids(first)).toEqual(['c1 {"a":1}', 'c1_2 {"a":2}'])
    const user: HistoryItem = { type: 'message', role: 'user', text: 'go' }
    const next = await collectFinished(model, request({ history: [user, ...remember(first, () => 'listed')] }))
    expect(ids(next)).toEqual(['c1_3 {"a":1}', 'c1_4 {"a":2}'])
  })

  test('arguments that are not JSON arrive as the model wrote them, and can be answered', async () => {
    const { mock, model } = await startWire(wire, [[call('exec_command', '{"cmd": "ls', 'c1')], [say('again')]])
    const events = await collectFinished(model)
    expect(events[0]).toMatchObject({ call: { id: 'c1', kind: 'function', input: '{"cmd": "ls' } })
    const user: HistoryItem = { type: 'message', role: 'user', text: 'go' }
    const history = [user, ...remember(events, () => 'not JSON')]
    expect(await collectFinished(model, request({ history }))).toMatchObject([{ text: 'again' }, { type: 'end' }])
    expect(JSON.stringify(mock.requests[1]?.body)).toContain('ls')
  })
})

describe.each(wires)('$wire: a web page in place of an answer', (wire) => {
  const page: Reply = {
    status: 200,
    headers: { 'content-type': 'text/html; charset=utf-8' },
    body: '\n<!doctype html><title>Sign in</title><p>Use your badge.</p>',
  }

  test('is asked for twice more, and then named with its first words', async () => {
    const { mock, model } = await startWire(wire, [page, page, page, [say('never asked')]])
    const seen: ModelEvent[] = []
    const read = async (): Promise<void> => {
      for await (const event of model.respond(request(), new AbortController().signal)) seen.push(event)
    }
    await expect(read()).rejects.toMatchObject({
      message: expect.stringMatching(
        /didn't answer: something at http:\/\/127\.0\.0\.1:\d+\/\S+, such as a gateway or a login page, sent a web page \(text\/html\), which begins: "Sign in Use your badge\."/,
      ) as unknown,
    })
    expect(mock.requests).toHaveLength(3)
    expect(JSON.stringify(seen)).not.toContain('badge')
  })

  test('that goes away does no harm', async () => {
    const { model } = await startWire(wire, [page, { status: 503, body: '' }, page, [say('fine')]])
    expect((await collectFinished(model)).slice(-2)).toMatchObject([{ text: 'fine' }, { type: 'end' }])
  })
})

describe.each(wires)('$wire: a text in place of an answer', (wire) => {
  test.each(['Please sign in: use your badge.', 'data centre closed', 'error: not today', '\ufeffretry later'])(
    'is named with its first words: %s',
    async (body) => {
      const sent: Reply = { status: 200, headers: { 'content-type': 'text/plain' }, body }
      const { mock, model } = await startWire(wire, [sent, sent, sent, [say('never asked')]])
      const words = `sent a text (text/plain), which begins: "${body.replace('\ufeff', '')}"`
      await expect(collect(model)).rejects.toThrow(words)
      expect(mock.requests).toHaveLength(3)
    },
  )
})

describe.each(wires)('$wire: JSON in place of a stream, with status 200', (wire) => {
  const sent = (body: string): Reply => ({ status: 200, headers: { 'content-type': 'application/json' }, body })

  test.each([
    [
      'is judged like an error in a stream',
      '{"error":{"message":"It is empty.","code":"insufficient_quota"}}',
      'empty',
      1,
    ],
    ['is asked for again if the error may pass', '{"error":"It is overloaded."}', 'overloaded', 2],
    ['is shown if it is no error', ' {"answer":"complete"}', 'complete', 2],
    ['is shown if it is a list', '[{"answer":"whole"}]', 'whole', 2],
  ])('%s', async (_, body, words, times) => {
    const { mock, model } = await startWire(wire, [sent(body), sent(body), sent(body)], { maxRetries: 1 })
    await expect(collect(model)).rejects.toThrow(words)
    expect(mock.requests).toHaveLength(times)
  })
})

describe.each(wires)('$wire: a part of a request that is refused', (wire) => {
  const refusal = (words: string, code?: string): Reply => ({ status: 400, body: wire.error(words, code) })
  const user: HistoryItem = { type: 'message', role: 'user', text: 'go' }
  const bad = (name: string): ModelRequest['tools'][number] => ({
    kind: 'function',
    name,
    description: 'Looks.',
    parameters: { type: 'object', properties: {} },
  })

  test.each([
    ['invalid_encrypted_content', 'The encrypted content gAAA... could not be verified.'],
    [undefined, 'messages.1.content.0: Invalid `signature` in `thinking` block'],
    [undefined, 'Thought signature is not valid.'],
  ])('because reasoning is sealed for another key (%s: %s) is left out, once and for all', async (code, words) => {
    const first = [think('hm', 'sealed'), call('ls', '{}', 'c1')]
    const { mock, model } = await startWire(wire, [first, refusal(words, code), [say('fine')], [say('on')]])
    const history = [user, ...remember(await collectFinished(model, request({ history: [user] })), () => 'listed')]
    const events = await collectFinished(model, request({ history }))
    expect(events).toMatchObject([
      { type: 'notice', message: expect.stringMatching(/answered 400: .*\(asked again without the sealed reasoning/) },
      { type: 'message', text: 'fine' },
      { type: 'end' },
    ])
    expect(await collectFinished(model, request({ history }))).toMatchObject([{ text: 'on' }, { type: 'end' }])
    expect(mock.requests.map(({ body }) => JSON.stringify(body).includes('"sealed"'))).toEqual([
      false,
      wire.wire !== 'Chat Completions' && JSON.stringify(mock.requests[1]?.body).includes('"sealed"'),
      false,
      false,
    ])
  })

  test('because of sealed reasoning fails if nothing was sealed', async () => {
    const { mock, model } = await startWire(wire, [refusal('The encrypted content could not be verified.')])
    expect((await failureOf(model)).failure).toBe('refused')
    expect(mock.requests).toHaveLength(1)
  })

  test.each([
    "Invalid schema for function 'mcp__a__b': In context=(), array schema missing items.",
    'tools.1.custom.input_schema: JSON schema is invalid.',
    'GenerateContentRequest.tools[0].function_declarations[1].parameters.properties: should be non-empty',
  ])('because of a tool (%s) is left out, by name', async (words) => {
    const { mock, model } = await startWire(wire, [refusal(words), [say('fine')], [say('on')]])
    const asked = request({ history: [user], tools: [bad('ls'), bad('mcp__a__b'), bad('cat')] })
    expect(await collectFinished(model, asked)).toMatchObject([
      { type: 'notice', message: expect.stringContaining('without the tool mcp__a__b') },
      { type: 'message', text: 'fine' },
      { type: 'end' },
    ])
    await collect(model, asked)
    expect(mock.requests.map(({ body }) => JSON.stringify(body).includes('"mcp__a__b"'))).toEqual([true, false, false])
    expect(JSON.stringify(mock.requests[2]?.body)).toContain('"cat"')
  })

  test.each([
    [400, undefined, 'messages.1.content.0.image.source.base64: Could not process image'],
    [400, 'invalid_image', 'The file is not valid.'],
    [404, undefined, 'No endpoints found that support image input'],
    [422, undefined, 'this model does not have vision'],
  ])('because of a picture (%s %s: %s) is left out, and the model is told', async (status, code, words) => {
    const picture = { mediaType: 'image/png', data: 'UElDVFVSRQ==' }
    const history: HistoryItem[] = [
      { type: 'message', role: 'user', text: 'go', images: [picture] },
      { type: 'tool_call', call: { id: 'c1', name: 'ls', kind: 'function', input: '{}' } },
      { type: 'tool_result', callId: 'c1', output: 'seen', ok: true, images: [picture] },
    ]
    const refused: Reply = { status, body: wire.error(words, code) }
    const { mock, model } = await startWire(wire, [refused, [say('fine')], [say('on')]])
    const asked = request({ history, tools: [bad('ls')] })
    expect(await collectFinished(model, asked)).toMatchObject([
      { type: 'notice', message: expect.stringContaining('(asked again without the pictures so far') },
      { type: 'message', text: 'fine' },
      { type: 'end' },
    ])
    await collect(model, asked)
    const bodies = mock.requests.map(({ body }) => JSON.stringify(body))
    expect(bodies.map((body) => body.includes('UElDVFVSRQ=='))).toEqual([true, false, false])
    expect(bodies[1]?.split('The picture is left out')).toHaveLength(3)
  })

  test('for another reason fails, although it names a tool', async () => {
    const { model } = await startWire(wire, [refusal("The call of 'ls' has no result.")])
    const asked = request({ history: [user], tools: [bad('ls')] })
    await expect(collect(model, asked)).rejects.toMatchObject({ failure: 'refused' })
  })
})

describe.each(wires)('$wire: a conversation', (wire) => {
  test('continues after calls, results and reasoning, in the form that the provider requires', async () => {
    const turns: Reply[] = [
      [
        think('Plan.', 'sig-1'),
        say('Looking.'),
        call('exec_command', { cmd: 'a' }),
        call('exec_command', { cmd: 'b' }),
      ],
      [think('Hm.', 'sig-2'), call('apply_patch', { input: '*** Begin Patch' })],
      [say('Done.')],
    ]
    const { mock, model } = await startWire(wire, turns)
    const history: HistoryItem[] = [
      { type: 'message', role: 'developer', text: 'House rules.' },
      { type: 'message', role: 'user', text: 'Fix it.' },
    ]
    for (const _ of turns) {
      history.push(
        ...remember(await collectFinished(model, request({ history: [...history] })), (name) => `${name} ok`),
      )
    }
    expect(history.at(-1)).toMatchObject({ role: 'assistant', text: 'Done.' })
    expect(mock.requests).toHaveLength(3)
  })

  test('keeps the beginning of its requests byte for byte', async () => {
    const { mock, model } = await startWire(wire, [[call('exec_command', { cmd: 'a' }, 'c1')], [say('ok')]])
    const user: HistoryItem = { type: 'message', role: 'user', text: 'Fix it.' }
    const events = await collectFinished(model, request({ history: [user] }))
    await collect(model, request({ history: [user, ...remember(events, () => 'done')] }))
    const [first, second] = mock.requests.map(({ body }) => body as Record<string, unknown>)
    for (const part of ['instructions', 'system', 'tools']) {
      expect(JSON.stringify(second?.[part])).toBe(JSON.stringify(first?.[part]))
    }
    const conversation = (body: Record<string, unknown> | undefined): readonly unknown[] =>
      body?.[wire.conversation] as readonly unknown[]
    const uncached = (value: unknown): string =>
      JSON.stringify(value).replaceAll(',"cache_control":{"type":"ephemeral"}', '')
    const before = conversation(first).map(uncached)
    expect(conversation(second).map(uncached).slice(0, before.length)).toEqual(before)
  })

  test('from another provider is accepted by this one', async () => {
    const { model } = await startWire(wire, [[say('ok')]])
    const history: HistoryItem[] = [
      { type: 'message', role: 'user', text: 'go' },
      { type: 'reasoning', text: 'x', opaque: { from: 'somewhere-else', item: {} } },
      { type: 'reasoning', text: 'without anything' },
      { type: 'tool_call', call: { id: 'fc:1|x', name: 'apply_patch', kind: 'freeform', input: '*** Begin Patch' } },
      { type: 'tool_result', callId: 'fc:1|x', output: '', ok: false },
      { type: 'message', role: 'developer', text: 'Mind the budget.' },
    ]
    expect(await collectFinished(model, request({ history }))).toMatchObject([{ text: 'ok' }, { type: 'end' }])
  })
})

describe.each(wires)('$wire: failures worth repeating', (wire) => {
  const { label, error } = wire
  test.each<readonly [string, Reply, string | RegExp]>([
    ['a 500', { status: 500, body: error('Oops', 'api_error') }, `${label} answered 500: Oops`],
    [
      'an overloaded 529',
      { status: 529, body: error('Overloaded', 'overloaded_error') },
      `${label} answered 529: Overloaded`,
    ],
    [
      'a 502 of a proxy',
      { status: 502, body: '<html>\n<h1>Bad gateway</h1>' },
      `${label} answered 502: <html> <h1>Bad gateway</h1>`,
    ],
    ['a 503 without a body', { status: 503, body: '' }, `${label} answered 503: status code (no body)`],
    ['a 408', { status: 408, body: error('slow') }, `${label} answered 408: slow`],
    ['a 409', { status: 409, body: error('conflict') }, `${label} answered 409: conflict`],
    ['a 429', { status: 429, body: error('Slow down', 'rate_limit_error') }, `${label} answered 429: Slow down`],
    [
      'an error in the stream',
      { say: [say('x')], end: { type: 'error', code: 'overloaded_error', message: 'Busy' } },
      `${label} failed: Busy`,
    ],
    [
      'a stream without its end',
      { say: [say('half')], end: { type: 'missing' } },
      `${label} cut the stream before its last event`,
    ],
    [
      'a cut connection',
      { say: [say('a text that is long enough')], delivery: { cutAfter: 4 } },
      /^\w+ cut the stream before its last event \(.+\)$/,
    ],
    [
      'a reset connection',
      { say: [say('a text that is long enough')], delivery: { cutAfter: 4, reset: true } },
      /^\w+ cut the stream before its last event \(.+\)$/,
    ],
    ['a cut before any event', { say: [], delivery: { cutAfter: 0 } }, /^\w+ cut the stream before its last event/],
    [
      'an event that is not JSON',
      { frames: ['event: message_start\ndata: {"type":\n\n'] },
      /^\w+ sent a malformed stream: /,
    ],
    [
      'an event of another shape',
      { frames: ['event: message_start\ndata: {"type":7,"choices":7}\n\n'] },
      /^\w+ sent a malformed stream: /,
    ],
  ])('%s leads to an announced retry', async (name, reply, reason) => {
    const { mock, model } = await startWire(wire, [reply, [say('fine')]])
    const matching: unknown = typeof reason === 'string' ? reason : expect.stringMatching(reason)
    // Only Anthropic says at the beginning of an answer what it costs.
    const isCounted = wire.wire === 'Messages' && /error in the stream|a cut connection|reset/.test(name)
    const spent = isCounted ? { spent: { ...noUsage, outputTokens: 1 } } : {}
    expect((await collectFinished(model)).slice(-3)).toEqual([
      { type: 'retry', attempt: 1, of: 5, reason: matching, waitMs: 1, failure: expect.any(String), ...spent },
      { type: 'message', text: 'fine' },
      { type: 'end', usage: noUsage },
    ])
    expect(mock.requests[1]?.body).toEqual(mock.requests[0]?.body)
  })

  test.each<readonly [string, Reply, string, object]>([
    [
      'a stream that stalls',
      { say: [say('a text that is long enough')], delivery: { stallAfter: 4 } },
      'stopped sending for 0.05 s in the middle of a stream',
      { streamIdleTimeoutMs: 50 },
    ],
    ['a server that never answers', 'silence', 'did not answer within 0.05 s', { connectTimeoutMs: 50 }],
    [
      'a server behind a proxy, one of which never answers,',
      'silence',
      'did not answer within 0.05 s, through the proxy http://proxy.example:3128 (http_proxy) unless NO_PROXY names its host',
      { connectTimeoutMs: 50, env: { http_proxy: 'http://me:pass-word@proxy.example:3128' } },
    ],
  ])('%s times out and is retried', async (_, reply, reason, limits) => {
    const { mock, model } = await startWire(wire, (_, index) => (index === 0 ? reply : [say('fine')]), limits)
    const retry = (await collect(model)).find((event) => event.type === 'retry')
    expect(retry?.reason).toBe(`${label} ${reason}`)
    await mock.requests[0]?.over
  })

  test('nothing is written to the console', async () => {
    const methods = ['log', 'info', 'warn', 'error', 'debug'] as const
    const spies = methods.map((method) => vi.spyOn(console, method).mockReturnValue())
    onTestFinished(() => spies.forEach((spy) => spy.mockRestore()))
    const { model } = await startWire(wire, [
      { frames: ['event: message_start\ndata: {"type":\n\n'] },
      { status: 500, body: '' },
      [say('fine')],
    ])
    await collect(model)
    expect(spies.flatMap((spy) => spy.mock.calls)).toEqual([])
  })

  test('the wait that the provider asks for is respected', async () => {
    const refusal: Reply = { status: 429, headers: { 'retry-after-ms': '3' }, body: error('slow down') }
    const { model } = await startWire(wire, [refusal, [say('fine')]], { retryBaseMs: 60_000 })
    expect((await collect(model)).find((event) => event.type === 'retry')?.waitMs).toBe(3)
  })

  test('a wait beyond the budget is not begun', async () => {
    const refusal: Reply = { status: 429, headers: { 'retry-after': '3600' }, body: error('later') }
    const { mock, model } = await startWire(wire, [refusal], { retryBudgetMs: 60_000 })
    expect((await failureOf(model)).message).toBe(
      `${label} answered 429: later (gave up: the provider asks for a wait of 3600 s, and 0 s of the wait budget of 60 s has been used)`,
    )
    expect(mock.requests).toHaveLength(1)
  })

  test('waits add up to the budget', async () => {
    const refusal: Reply = { status: 429, headers: { 'retry-after-ms': '200' }, body: error('later') }
    const { mock, model } = await startWire(wire, [refusal, refusal], { retryBudgetMs: 300 })
    expect((await failureOf(model)).message).toBe(
      `${label} answered 429: later (gave up: the provider asks for a wait of 0.2 s, and 0.2 s of the wait budget of 0.3 s has been used)`,
    )
    expect(mock.requests).toHaveLength(2)
  })

  test('after the last retry the failure is final', async () => {
    const down: Reply = { status: 503, body: error('down') }
    const { mock, model } = await startWire(wire, [down, down, down], { maxRetries: 2 })
    const failure = await failureOf(model)
    expect(failure).toMatchObject({ code: 'provider', failure: 'server', status: 503 })
    expect(failure.message).toBe(`${label} answered 503: down (gave up after 2 retries)`)
    expect(mock.requests).toHaveLength(3)
  })

  test.each<readonly [string, (counts: Record<string, unknown>) => unknown, object]>([
    ['a text', (counts) => mapped(counts, String), noUsage],
    ['less than nothing', (counts) => mapped(counts, (count) => -Number(count)), noUsage],
    ['nothing', (counts) => mapped(counts, () => null), noUsage],
    ['missing', () => ({}), noUsage],
    ['no object', () => 'free', noUsage],
    ['right', (counts) => counts, { inputTokens: 70, outputTokens: 9 }],
  ])('an answer whose counts are %s is whole', async (_, change, usage) => {
    const { mock, model } = await startWire(wire, [withCounts(wire, change)])
    expect(await collectFinished(model)).toMatchObject([
      { type: 'message', text: 'fine' },
      { type: 'end', usage },
    ])
    expect(mock.requests).toHaveLength(1)
  })

  test('a stream that keeps failing is reported in the words that clients of Codex look for', async () => {
    const broken: Reply = { say: [say('half')], end: { type: 'missing' } }
    const { model } = await startWire(wire, [broken, broken], { maxRetries: 1 })
    expect((await failureOf(model)).message).toBe(
      `stream disconnected before completion: ${label} cut the stream before its last event (gave up after 1 retry)`,
    )
  })

  test('a server that redirects in a circle is not tried again', async () => {
    const { mock, model } = await startWire(wire, ({ path }) => ({
      status: 307,
      headers: { location: path },
      body: '',
    }))
    expect((await failureOf(model)).message).toMatch(
      /\/\/127\.0\.0\.1:\d+\S*: it redirects requests in a circle\. Check/,
    )
    expect(mock.requests.length).toBeLessThan(25)
  })

  test('a redirect to an address that does not answer is named', async () => {
    const elsewhere = createServer((_, response) => response.writeHead(405).end('no')).listen(0, '127.0.0.1')
    onTestFinished(() => void elsewhere.close())
    await once(elsewhere, 'listening')
    const location = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}/new`
    const { mock, model } = await startWire(wire, () => ({ status: 302, headers: { location }, body: '' }))
    expect((await failureOf(model)).message).toMatch(
      new RegExp(`answered 405 at ${location}, to which ${mock.baseUrl}\\S* redirects\\. Set the base URL`),
    )
    expect(mock.requests).toHaveLength(1)
  })

  test('an unreachable server is reported with its address', async () => {
    const { mock, model } = await startWire(wire, [], { maxRetries: 1 })
    await mock.close()
    const failure = await failureOf(model)
    expect(failure.failure).toBe('connection')
    expect(failure.message).toMatch(
      / can't be reached at http:\/\/127\.0\.0\.1:\d+\S*: .*ECONNREFUSED.* \(gave up after 1 retry\)$/,
    )
  })
})

describe.each(wires)('$wire: failures that end it at once', (wire) => {
  const { label, error } = wire
  test.each<readonly [string, Reply, string, Partial<ModelError>]>([
    [
      'a 400',
      { status: 400, body: error('Unknown parameter') },
      'answered 400: Unknown parameter',
      { failure: 'refused', status: 400 },
    ],
    [
      'a 401',
      { status: 401, body: error(`Incorrect API key provided: ${key}.`, 'authentication_error') },
      'answered 401: Incorrect API key provided: [key].',
      { failure: 'authentication', status: 401 },
    ],
    ['a 403', { status: 403, body: error('no') }, 'answered 403: no', { failure: 'authentication' }],
    [
      'a 404',
      { status: 404, body: error('no such model', 'not_found_error') },
      'answered 404: no such model (agent models lists what your providers offer)',
      { failure: 'refused' },
    ],
    [
      'an empty account',
      { status: 429, body: error('You exceeded your current quota', 'insufficient_quota') },
      'answered 429: You exceeded your current quota',
      { failure: 'quota' },
    ],
    [
      'an empty account in other words',
      { status: 400, body: error('Your credit balance is too low') },
      'answered 400: Your credit balance is too low',
      { failure: 'quota' },
    ],
    [
      'a 5xx that says so',
      { status: 500, headers: { 'x-should-retry': 'false' }, body: error('never') },
      'answered 500: never',
      { failure: 'server' },
    ],
    [
      'a history that is too long',
      { status: 400, body: error('too long', 'context_length_exceeded') },
      'answered 400: too long',
      { failure: 'context-overflow' },
    ],
    [
      'one in other words',
      { status: 400, body: error('prompt is too long: 208310 tokens > 200000 maximum') },
      'answered 400: prompt is too long: 208310 tokens > 200000 maximum',
      { failure: 'context-overflow' },
    ],
    [
      'a body that is too long',
      { status: 413, body: error('Request exceeds the maximum size', 'request_too_large') },
      'answered 413: Request exceeds the maximum size',
      { failure: 'context-overflow' },
    ],
    [
      'a body that a gateway calls too large',
      { status: 413, body: '<html><title>413 Request Entity Too Large</title></html>' },
      'answered 413: <html><title>413 Request Entity Too Large</title></html>',
      { failure: 'context-overflow' },
    ],
    [
      'a filtered answer',
      { say: [], end: { type: 'incomplete', reason: wire.filtered } },
      `ended its response early: ${wire.filtered}`,
      { failure: 'filtered' },
    ],
  ])('%s', async (_, reply, message, facts) => {
    const { mock, model } = await startWire(wire, [reply, [say('never asked')]])
    const failure = await failureOf(model)
    const { agent, wire: api } = wire
    const variables = Object.keys(agent('').env).filter((name) => name.endsWith('_KEY'))
    const asked = ` (asked at ${mock.baseUrl} with the key from ${variables[0]})`
    const isRefusedKey = failure.failure === 'authentication'
    const said = failure.message.slice(label.length + 1)
    expect(said, api).toEqual(typeof message === 'string' ? `${message}${isRefusedKey ? asked : ''}` : message)
    expect(failure).toMatchObject({ code: 'provider', ...facts })
    expect(mock.requests).toHaveLength(1)
  })
})

describe.each(wires)('$wire: stopping', (wire) => {
  const why = new Error('the run is over')

  test.each<readonly [string, Reply, 'at once' | 'asked' | ModelEvent['type'], number]>([
    ['before asking', [say('x')], 'at once', 0],
    ['while waiting for the headers', 'silence', 'asked', 0],
    [
      'in the middle of a stream',
      { say: [say('a text that is long enough')], delivery: { stallAfter: 6 } },
      'text_delta',
      0,
    ],
    ['while waiting to repeat', { status: 429, headers: { 'retry-after': '60' }, body: {} }, 'retry', 1],
  ])('an abort %s throws its reason, and no further retry is announced', async (_, reply, when, retries) => {
    const { mock, model } = await startWire(wire, [reply])
    const controller = new AbortController()
    if (when === 'at once') controller.abort(why)
    if (when === 'asked') void vi.waitUntil(() => mock.requests.length > 0, 60_000).then(() => controller.abort(why))
    const seen: ModelEvent[] = []
    const listening = (async () => {
      for await (const event of model.respond(request(), controller.signal)) {
        seen.push(event)
        if (event.type === when) setImmediate(() => controller.abort(why))
      }
    })()
    await expect(listening).rejects.toBe(why)
    expect(seen.filter(({ type }) => type === 'retry')).toHaveLength(retries)
  })

  test('a reader who stops closes the connection', async () => {
    const { mock, model } = await startWire(wire, [
      { say: [say('a text that is long enough')], delivery: { stallAfter: 6 } },
    ])
    for await (const event of model.respond(request(), new AbortController().signal)) {
      expect(event.type).toBe('text_delta')
      break
    }
    await mock.requests[0]?.over
  })
})
