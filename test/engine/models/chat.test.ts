import { describe, expect, test } from 'vitest'
import type { HistoryItem, ModelEvent } from '../../../engine/core/model.ts'
import { chatChunk, chatDone } from '../../support/mock-chat.ts'
import { say, think } from '../../support/mock-model.ts'
import { collect, collectFinished, noUsage, request } from './conversation.ts'
import { startWire, wires } from './wires.ts'

const wire = wires.find((candidate) => candidate.wire === 'Chat Completions') ?? wires[0]!

test('the request contains only what a compatible server understands', async () => {
  const { mock, model } = await startWire(wire, [[say('ok')]])
  const images = [{ mediaType: 'image/png', data: 'aGk=' }]
  const history: readonly HistoryItem[] = [
    { type: 'message', role: 'developer', text: 'House rules.' },
    { type: 'message', role: 'user', text: 'See?', images },
    { type: 'message', role: 'assistant', text: 'Looking.' },
    { type: 'tool_call', call: { id: 'c1', name: 'exec_command', kind: 'function', input: '{ "cmd": "ls" }' } },
    { type: 'tool_call', call: { id: 'c2', name: 'apply_patch', kind: 'freeform', input: '*** Begin Patch' } },
    { type: 'tool_call', call: { id: 'c3', name: 'exec_command', kind: 'function', input: 'ls' } },
    { type: 'tool_result', callId: 'c1', output: 'a.ts', ok: true, images },
    { type: 'tool_result', callId: 'c2', output: 'no', ok: false },
    { type: 'tool_result', callId: 'c3', output: 'not JSON', ok: false },
    { type: 'message', role: 'developer', text: 'Mind the budget.' },
  ]
  await collect(model, request({ history, reasoningEffort: 'low' }))
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,aGk=' } }
  const called = (id: string, name: string, args: string): object => ({
    id,
    type: 'function',
    function: { name, arguments: args },
  })
  expect(mock.requests[0]?.body).toEqual({
    model: 'qwen3',
    messages: [
      { role: 'system', content: 'Be brief.\n\nHouse rules.' },
      { role: 'user', content: [{ type: 'text', text: 'See?' }, image] },
      {
        role: 'assistant',
        content: 'Looking.',
        tool_calls: [
          called('c1', 'exec_command', '{ "cmd": "ls" }'),
          called('c2', 'apply_patch', '{"input":"*** Begin Patch"}'),
          called('c3', 'exec_command', '{"malformed_arguments":"ls"}'),
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'a.ts' },
      { role: 'tool', tool_call_id: 'c2', content: 'no' },
      { role: 'tool', tool_call_id: 'c3', content: 'not JSON' },
      { role: 'user', content: [image, { type: 'text', text: 'Mind the budget.' }] },
    ],
    tools: [
      {
        type: 'function',
        function: {
          name: 'exec_command',
          description: 'Runs a command.',
          parameters: { type: 'object', properties: { cmd: { type: 'string' } }, required: ['cmd'] },
        },
      },
      {
        type: 'function',
        function: {
          name: 'apply_patch',
          description: 'Applies a patch in a string.',
          parameters: { type: 'object', properties: { input: { type: 'string' } }, required: ['input'] },
        },
      },
    ],
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: 'low',
  })
})

test('without tools none are sent: some servers refuse an empty list', async () => {
  const { mock, model } = await startWire(wire, [[say('ok')]])
  await collect(model, request({ tools: [] }))
  expect(mock.requests[0]?.body).not.toHaveProperty('tools')
})

test.each(['reasoning_content', 'reasoning'])('thoughts in %s are sent back in the same field', async (field) => {
  const frames = [
    chatChunk({ [field]: 'First ' }),
    chatChunk({ [field]: 'look.' }),
    chatChunk({ content: 'ok' }, 'stop'),
    chatDone,
  ]
  const { mock, model } = await startWire(wire, [{ frames }, [say('ok')]])
  const events = await collectFinished(model)
  expect(events[0]).toEqual({
    type: 'reasoning',
    text: 'First look.',
    opaque: { from: 'openai-chat', model: 'qwen3', field },
  })
  const history = [
    events[0],
    { type: 'message', role: 'assistant', text: 'ok' },
    { type: 'message', role: 'user', text: 'more' },
  ] as HistoryItem[]
  await collect(model, request({ history }))
  expect(mock.requests[1]?.body).toMatchObject({
    messages: [{ role: 'system' }, { role: 'assistant', [field]: 'First look.' }, { role: 'user' }],
  })
})

test('thoughts that a server sends in both fields count once', async () => {
  const frames = [chatChunk({ reasoning: 'Hm.', reasoning_content: 'Hm.' }), chatChunk({}, 'stop'), chatDone]
  const { model } = await startWire(wire, [{ frames }])
  expect(await collect(model)).toMatchObject([{ type: 'reasoning', text: 'Hm.' }, { type: 'end' }])
})

describe('servers with peculiarities', () => {
  const piece = (...calls: object[]): string => chatChunk({ tool_calls: calls })
  const made = (events: readonly ModelEvent[]): readonly unknown[] =>
    events.flatMap((event) => (event.type === 'tool_call' ? [[event.call.name, event.call.input]] : []))

  test.each<readonly [string, readonly string[]]>([
    [
      'complete calls, all with index 0',
      [
        piece({ index: 0, id: 'a', type: 'function', function: { name: 'one', arguments: '{"x":1}' } }),
        piece({ index: 0, id: 'b', type: 'function', function: { name: 'two', arguments: '{}' } }),
      ],
    ],
    [
      'alternating pieces of two calls',
      [
        piece(
          { index: 0, id: 'a', function: { name: 'one', arguments: '' } },
          { index: 1, id: 'b', function: { name: 'two' } },
        ),
        piece({ index: 1, function: { arguments: '{' } }),
        piece({ index: 0, function: { arguments: '{"x"' } }),
        piece({ index: 1, function: { arguments: '}' } }, { index: 0, function: { arguments: ':1}' } }),
      ],
    ],
    [
      'no index',
      [
        piece({ id: 'a', function: { name: 'one', arguments: '{"x"' } }),
        piece({ function: { arguments: ':1}' } }),
        piece({ id: 'b', function: { name: 'two', arguments: '' } }),
      ],
    ],
    [
      'the name again with every piece',
      [
        piece({ index: 0, id: 'a', function: { name: 'one', arguments: '{"x"' } }),
        piece({ index: 0, id: 'a', function: { name: 'one', arguments: ':1}' } }),
        piece({ index: 1, id: 'b', function: { name: 'two', arguments: null } }),
      ],
    ],
    [
      'arguments that are already parsed',
      [
        piece({ index: 0, id: 'a', function: { name: 'one', arguments: { x: 1 } } }),
        piece({ index: 1, id: 'b', function: { name: 'two', arguments: {} } }),
      ],
    ],
    [
      'no ids',
      [
        piece({ index: 0, id: '', function: { name: 'one', arguments: '{"x":1}' } }),
        piece({ index: 1, function: { name: 'two', arguments: '{}' } }),
      ],
    ],
  ])('%s', async (_, frames) => {
    const { model } = await startWire(wire, [{ frames: [...frames, chatChunk({}, 'tool_calls'), chatDone] }])
    const events = await collectFinished(model)
    expect(made(events)).toEqual([
      ['one', '{"x":1}'],
      ['two', '{}'],
    ])
    const ids = events.flatMap((event) => (event.type === 'tool_call' ? [event.call.id] : []))
    expect(new Set(ids).size).toBe(2)
    expect(ids).not.toContain('')
  })

  test('no usage, and no [DONE]', async () => {
    const { model } = await startWire(wire, [{ frames: [chatChunk({ content: 'ok' }), chatChunk({}, 'stop')] }])
    expect(await collectFinished(model)).toEqual([
      { type: 'message', text: 'ok' },
      { type: 'end', usage: noUsage },
    ])
  })

  test('a connection that breaks after the finish reason costs only the token count', async () => {
    const frames = [chatChunk({ content: 'ok' }), chatChunk({}, 'stop'), chatDone]
    const { mock, model } = await startWire(wire, [{ frames, delivery: { cutAfter: 2 } }])
    expect(await collectFinished(model)).toEqual([
      { type: 'message', text: 'ok' },
      { type: 'end', usage: noUsage },
    ])
    expect(mock.requests).toHaveLength(1)
  })

  test('a server that keeps the connection open after the finish reason costs only the token count', async () => {
    const frames = [chatChunk({ content: 'ok' }), chatChunk({}, 'stop'), chatDone]
    const { mock, model } = await startWire(wire, [{ frames, delivery: { stallAfter: 2 } }])
    expect(await collectFinished(model)).toEqual([
      { type: 'message', text: 'ok' },
      { type: 'end', usage: noUsage },
    ])
    await mock.requests[0]?.over
    expect(mock.requests).toHaveLength(1)
  })

  test('an abort while only the count is missing is still an abort', async () => {
    const frames = [chatChunk({ content: 'ok' }), chatChunk({}, 'stop'), chatDone]
    const { model } = await startWire(wire, [{ frames, delivery: { stallAfter: 2 } }])
    const why = new Error('over')
    const controller = new AbortController()
    setTimeout(() => controller.abort(why), 30)
    await expect(collect(model, request(), controller.signal)).rejects.toBe(why)
  })

  test('a call without a name is malformed, and the request is repeated', async () => {
    const frames = [piece({ index: 0, id: 'a', function: { arguments: '{}' } }), chatChunk({}, 'tool_calls'), chatDone]
    const { model } = await startWire(wire, [{ frames }, [say('fine')]])
    expect(await collectFinished(model)).toMatchObject([
      { type: 'retry', reason: 'Local sent a malformed stream: a tool call without a name' },
      { text: 'fine' },
      { type: 'end' },
    ])
  })
})

test('reasoning from another provider is not sent', async () => {
  const { mock, model } = await startWire(wire, [[say('ok')]])
  const history: HistoryItem[] = [
    { type: 'reasoning', text: 'secret', opaque: { from: 'openai-responses', item: {} } },
    { type: 'message', role: 'assistant', text: 'x' },
    { type: 'message', role: 'user', text: 'go on' },
  ]
  await collect(model, request({ history }))
  expect(JSON.stringify(mock.requests[0]?.body)).not.toContain('secret')
})

test('a schema is sent along', async () => {
  const { mock, model } = await startWire(wire, [[think('x'), say('{}')]])
  await collect(model, request({ outputSchema: { name: 'answer', schema: { type: 'object' } } }))
  expect(mock.requests[0]?.body).toMatchObject({
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'answer', schema: { type: 'object' }, strict: false },
    },
  })
  expect(model.enforcesSchema).toBe(false)
})
