import { describe, expect, onTestFinished, test } from 'vitest'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { openModel } from '../../../engine/models/index.ts'
import { startMockAnthropic } from '../../support/mock-anthropic.ts'
import { call, frame, say, think } from '../../support/mock-model.ts'
import { collect, collectFinished, noUsage, request } from './conversation.ts'
import { startWire, wires } from './wires.ts'

const wire = wires.find((candidate) => candidate.wire === 'Messages') ?? wires[0]!
const cached = { cache_control: { type: 'ephemeral' } }

test('the request carries the whole conversation in the Messages format', async () => {
  const { mock, model } = await startWire(wire, [
    [think('Plan.', 'sig'), think('', 'blob'), call('exec_command', { cmd: 'ls' }, 'c1')],
    [say('ok')],
  ])
  const images = [{ mediaType: 'image/png', data: 'aGk=' }]
  const start: readonly HistoryItem[] = [
    { type: 'message', role: 'developer', text: 'House rules.' },
    { type: 'message', role: 'user', text: 'See?', images },
  ]
  const said = await collectFinished(model, request({ history: start }))
  const history: readonly HistoryItem[] = [
    ...start,
    // The conversation passes through a session file, so opaque data must survive JSON.
    ...(JSON.parse(JSON.stringify(said.slice(0, 3))) as HistoryItem[]),
    { type: 'tool_call', call: { id: 'fc|2', name: 'exec_command', kind: 'function', input: 'not json' } },
    { type: 'message', role: 'user', text: 'Mind the tests.' },
    { type: 'tool_result', callId: 'c1', output: 'a.ts', ok: true, images },
    { type: 'tool_result', callId: 'fc|2', output: '', ok: false },
  ]
  await collect(model, request({ history }))
  const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aGk=' } }
  expect(mock.requests[1]?.path).toBe('/v1/messages')
  expect(mock.requests[1]?.body).toEqual({
    model: 'claude-opus-5-5',
    max_tokens: 64_000,
    system: [
      { type: 'text', text: 'Be brief.', ...cached },
      { type: 'text', text: 'House rules.', ...cached },
    ],
    messages: [
      { role: 'user', content: [image, { type: 'text', text: 'See?', ...cached }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Plan.', signature: 'sig' },
          { type: 'redacted_thinking', data: 'blob' },
          { type: 'tool_use', id: 'c1', name: 'exec_command', input: { cmd: 'ls' } },
          {
            type: 'tool_use',
            id: 'fc_2_ad1e7e46b7d2',
            name: 'exec_command',
            input: { malformed_arguments: 'not json' },
          },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'a.ts' }, image], is_error: false },
          { type: 'tool_result', tool_use_id: 'fc_2_ad1e7e46b7d2', content: [], is_error: true },
          // The user's message is a separate block; what our program itself adds is part of the last tool result.
          { type: 'text', text: 'Mind the tests.', ...cached },
        ],
      },
    ],
    tools: [
      {
        name: 'exec_command',
        description: 'Runs a command.',
        input_schema: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
      },
      {
        name: 'apply_patch',
        description: 'Applies a patch in a string.',
        input_schema: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
      },
    ],
    stream: true,
  })
})

test('however long the conversation, three cache breakpoints are set: the front and our last two messages', async () => {
  const { mock, model } = await startWire(wire, [[say('ok')]])
  const history = Array.from({ length: 20 }, (_, at): HistoryItem => {
    return { type: 'message', role: at % 2 === 0 ? 'user' : 'assistant', text: `${at}` }
  }).slice(0, 19)
  await collect(model, request({ history }))
  const { messages } = mock.requests[0]?.body as { messages: readonly object[] }
  const marked = messages.flatMap((message, at) => (JSON.stringify(message).includes('cache_control') ? [at] : []))
  expect(marked).toEqual([16, 18])
})

test('cache reads and writes count as input', async () => {
  const usage = { input: 1000, cached: 700, cacheWrite: 200, output: 30, reasoning: 10 }
  const { model } = await startWire(wire, [{ say: [say('ok')], usage }])
  expect((await collect(model)).at(-1)).toEqual({
    type: 'end',
    usage: {
      inputTokens: 1000,
      cachedInputTokens: 700,
      cacheWriteInputTokens: 200,
      outputTokens: 30,
      reasoningOutputTokens: 10,
    },
  })
})

describe('effort', () => {
  const budget = (tokens: number): object => ({ thinking: { type: 'enabled', budget_tokens: tokens } })
  const adaptive = (effort: string): object => ({ thinking: { type: 'adaptive' }, output_config: { effort } })
  test.each([
    ['claude-sonnet-5', 'high', adaptive('high')],
    ['claude-opus-4-6', 'minimal', adaptive('low')],
    ['claude-opus-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-haiku-5-5', 'none', { thinking: { type: 'disabled' } }],
    ['claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
    ['claude-opus-5-5', 'none', adaptive('low')],
    ['claude-fable-5-1', 'none', adaptive('low')],
    ['claude-opus-4-5-20251101', 'medium', budget(10_000)],
    ['claude-sonnet-4-5', 'low', budget(4096)],
    ['claude-opus-4-20250514', 'high', budget(20_000)],
    ['claude-3-5-haiku-latest', 'high', budget(7168)],
  ])('%s with %s', async (name, reasoningEffort, sent) => {
    const mock = await startMockAnthropic({ replies: [[say('ok')]] })
    onTestFinished(() => mock.close())
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: mock.baseUrl }
    await collect(await openModel(name, { env, cwd: '/' }), request({ reasoningEffort }))
    const body = mock.requests[0]?.body as Record<string, unknown>
    expect({ thinking: body['thinking'], output_config: body['output_config'] }).toEqual({
      thinking: undefined,
      output_config: undefined,
      ...sent,
    })
    const thinking = body['thinking'] as { budget_tokens?: number }
    expect(thinking.budget_tokens ?? 0).toBeLessThan(body['max_tokens'] as number)
  })
})

describe('a schema', () => {
  const outputSchema = { name: 'answer', schema: { type: 'object' } }

  test('is enforced by models that can', async () => {
    const { mock, model } = await startWire(wire, [[say('{}')]])
    await collect(model, request({ outputSchema, reasoningEffort: 'low' }))
    expect(model.enforcesSchema).toBe(true)
    expect(mock.requests[0]?.body).toMatchObject({
      output_config: { effort: 'low', format: { type: 'json_schema', schema: { type: 'object' } } },
    })
  })

  test('is not sent to models that cannot', async () => {
    const mock = await startMockAnthropic({ replies: [[say('{}')]] })
    onTestFinished(() => mock.close())
    const env = { ANTHROPIC_API_KEY: 'key', ANTHROPIC_BASE_URL: mock.baseUrl }
    const model = await openModel('claude-opus-4-1', { env, cwd: '/' })
    await collect(model, request({ outputSchema }))
    expect(model.enforcesSchema).toBe(false)
    expect(mock.requests[0]?.body).not.toHaveProperty('output_config')
  })
})

describe('events', () => {
  const start = frame({ type: 'message_start', message: {} })
  const end = [frame({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }), frame({ type: 'message_stop' })]

  test('of unknown kinds are ignored, and blocks of unknown kinds are kept', async () => {
    const frames = [
      start,
      frame({ type: 'shiny_new_event', thing: 1 }),
      frame({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'server_tool_use', id: 's', name: 'web' },
      }),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'shiny_delta' } }),
      frame({ type: 'content_block_stop', index: 0 }),
      ...end,
    ]
    const { model } = await startWire(wire, [{ frames }])
    const kept = { from: 'anthropic-messages', blocks: [{ type: 'server_tool_use', id: 's', name: 'web' }] }
    expect(await collect(model)).toMatchObject([
      { type: 'reasoning', text: '', opaque: kept },
      { type: 'end', usage: noUsage },
    ])
  })

  test('of a block that never started are malformed', async () => {
    const frames = [start, frame({ type: 'content_block_stop', index: 3 }), ...end]
    const { model } = await startWire(wire, [{ frames }, [say('fine')]])
    expect((await collect(model))[0]).toMatchObject({
      type: 'retry',
      reason: 'Anthropic sent a malformed stream: a content block that never started: 3',
    })
  })

  test('a call without input is a call with no arguments', async () => {
    const { model } = await startWire(wire, [[call('exec_command', '')]])
    expect((await collect(model))[0]).toMatchObject({ call: { input: '{}' } })
  })
})
