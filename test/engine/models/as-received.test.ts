import { describe, expect, test } from 'vitest'
import type { HistoryItem, Model, ModelEvent, ModelRequest } from '../../../engine/core/model.ts'
import { openModel } from '../../../engine/models/index.ts'
import { chatChunk, chatDone } from '../../support/mock-chat.ts'
import { call, frame, say, search, think } from '../../support/mock-model.ts'
import type { MockModel, Replies, Reply } from '../../support/mock-model.ts'
import { collectFinished, request } from './conversation.ts'
import { startWire, wires, type WireUnderTest } from './wires.ts'

const [responses, chat, messages] = wires
if (responses === undefined || chat === undefined || messages === undefined) throw new Error('there are three wires')

const user = (text: string): HistoryItem => ({ type: 'message', role: 'user', text })

/** Returns what a run stores about a response and the results of its calls, in the form in which it is read back from the session. */
function kept(events: readonly ModelEvent[]): readonly HistoryItem[] {
  const said = events.flatMap((event): readonly HistoryItem[] => {
    if (event.type === 'message') return [{ ...event, role: 'assistant' }]
    return event.type === 'reasoning' || event.type === 'web_search' || event.type === 'tool_call' ? [event] : []
  })
  const results = said.flatMap((item): readonly HistoryItem[] =>
    item.type === 'tool_call' ? [{ type: 'tool_result', callId: item.call.id, output: 'done', ok: true }] : [],
  )
  return JSON.parse(JSON.stringify([...said, ...results])) as readonly HistoryItem[]
}

/** Sends this many requests, each with the whole conversation so far. Returns the conversation after the last response. */
async function converse(model: Model, times: number, change: Partial<ModelRequest> = {}): Promise<HistoryItem[]> {
  const history = [user('Fix it.')]
  for (let at = 0; at < times; at++)
    history.push(...kept(await collectFinished(model, request({ ...change, history }))))
  return history
}

/** Opens another model of a provider whose mock is already running. */
function another(wire: WireUnderTest, { baseUrl }: MockModel, name: string): Promise<Model> {
  const env = { OPENAI_API_KEY: 'k', ANTHROPIC_API_KEY: 'k', LOCAL_KEY: 'k' }
  return openModel(name, { env, cwd: '/', retryBaseMs: 1, ...wire.options(baseUrl) })
}

/** Returns the content of the model's turns in a request to Claude. */
function turnsIn(mock: MockModel, at: number): readonly (readonly Readonly<Record<string, unknown>>[])[] {
  const { messages: all } = mock.requests[at]?.body as { messages: { role: string; content: never[] }[] }
  return all.flatMap(({ role, content }) => (role === 'assistant' ? [content] : []))
}

const thought = (mock: MockModel, at: number): boolean => JSON.stringify(turnsIn(mock, at)).includes('thinking')

describe('Claude’s turn is sent back as it arrived', () => {
  test.each<readonly [string, Reply]>([
    [
      'thinking between its words and its call',
      [think('A', 's1'), say('So.'), think('B', 's2'), call('exec_command', {})],
    ],
    [
      'thinking between its calls',
      [think('A', 's1'), call('exec_command', {}), think('B', 's2'), call('exec_command', { cmd: 'x' })],
    ],
    ['words behind its call', [think('A', 's1'), call('exec_command', {}), say('And now we wait.')]],
    ['sealed thinking', [think('', 'sealed'), think('A', 's1'), call('exec_command', {})]],
    [
      'a search between its thoughts',
      [think('A', 's1'), search('how'), think('B', 's2'), say('So.'), call('exec_command', {})],
    ],
    [
      'several pieces of one text',
      [think('A', 's1'), say('One. '), say('Two.'), call('exec_command', {}), think('B', 's2')],
    ],
  ])('%s', async (_, reply) => {
    const { mock, model } = await startWire(messages, [
      reply,
      [think('C', 's3'), call('exec_command', {})],
      [say('Done.')],
    ])
    await converse(model, 3)
    expect(mock.requests).toHaveLength(3)
    expect(JSON.stringify(turnsIn(mock, 2))).toContain('s3')
    expect(JSON.stringify(turnsIn(mock, 2))).toMatch(/s1|sealed/)
  })

  test('with its citations, fields of its calls and blocks of unknown kinds', async () => {
    const start = (index: number, content_block: object): string =>
      frame({ type: 'content_block_start', index, content_block })
    const delta = (index: number, piece: object): string => frame({ type: 'content_block_delta', index, delta: piece })
    const stop = (index: number): string => frame({ type: 'content_block_stop', index })
    const citation = { type: 'web_search_result_location', url: 'https://example.com/', encrypted_index: 'x' }
    const frames = [
      frame({ type: 'message_start', message: { usage: null } }),
      start(0, { type: 'shiny', sealed: 'abc' }),
      stop(0),
      start(1, { type: 'text', text: '', citations: null }),
      delta(1, { type: 'text_delta', text: 'It is so.' }),
      delta(1, { type: 'citations_delta', citation }),
      stop(1),
      start(2, { type: 'tool_use', id: 'c1', name: 'exec_command', input: {}, caller: { type: 'direct' } }),
      delta(2, { type: 'input_json_delta', partial_json: '{"cmd":"ls"}' }),
      stop(2),
      frame({ type: 'message_delta', delta: { stop_reason: 'tool_use' } }),
      frame({ type: 'message_stop' }),
    ]
    const { mock, model } = await startWire(messages, [{ frames }, [say('Done.')]])
    await converse(model, 2)
    expect(turnsIn(mock, 1)).toEqual([
      [
        { type: 'shiny', sealed: 'abc' },
        { type: 'text', text: 'It is so.', citations: [citation] },
        { type: 'tool_use', id: 'c1', name: 'exec_command', input: { cmd: 'ls' }, caller: { type: 'direct' } },
      ],
    ])
  })
})

describe('Claude’s thinking is not sent', () => {
  const replies: Replies = [
    [think('A', 's1'), call('exec_command', {})],
    [think('B', 's2'), say('Done.')],
    [say('ok')],
    [say('ok')],
  ]

  test.each<readonly [string, Partial<ModelRequest>]>([
    ['with other instructions', { instructions: 'Be long.' }],
    ['with other tools', { tools: [] }],
    ['with web search added', { webSearch: { mode: 'live' } }],
  ])('%s, but is sent again with the original ones', async (_, change) => {
    const { mock, model } = await startWire(messages, replies)
    const history = [...(await converse(model, 2)), user('And now?')]
    await collectFinished(model, request({ ...change, history }))
    await collectFinished(model, request({ history }))
    expect(thought(mock, 2)).toBe(false)
    expect(thought(mock, 3)).toBe(true)
  })

  test('after a compaction, or if a hook has changed earlier messages', async () => {
    const { mock, model } = await startWire(messages, replies)
    const [, ...rest] = await converse(model, 2)
    for (const before of [user('A summary of it.'), user('Fix it, please.')]) {
      await collectFinished(model, request({ history: [before, ...rest, user('And now?')] }))
    }
    expect([thought(mock, 2), thought(mock, 3)]).toEqual([false, false])
  })

  test('to another model, whether or not it checks thinking', async () => {
    const { mock, model } = await startWire(messages, replies)
    const history = [...(await converse(model, 2)), user('And now?')]
    for (const name of ['claude-sonnet-5-5', 'claude-opus-5']) {
      await collectFinished(await another(messages, mock, name), request({ history }))
    }
    expect([thought(mock, 2), thought(mock, 3)]).toEqual([false, false])
  })

  test('if an older session does not say what came before it', async () => {
    const { mock, model } = await startWire(messages, [[say('ok')]])
    const block = { type: 'thinking', thinking: 'A', signature: 's1' }
    const opaque = { from: 'anthropic-messages', block }
    await collectFinished(
      model,
      request({ history: [user('go'), { type: 'reasoning', text: 'A', opaque }, user('on')] }),
    )
    expect(thought(mock, 0)).toBe(false)
  })

  test('and a model that thinks within a budget does not continue the thinking of another model’s turn', async () => {
    const { mock, model } = await startWire(messages, [[think('A', 's1'), call('exec_command', {})], [say('ok')]])
    const history = await converse(model, 1)
    const older = await another(messages, mock, 'claude-sonnet-4-5')
    await collectFinished(older, request({ history, reasoningEffort: 'high' }))
    expect(mock.requests[1]?.body).toMatchObject({ thinking: { type: 'disabled' } })
  })
})

test('the program’s own messages go into the last result, and the user’s message follows the results', async () => {
  const { mock, model } = await startWire(messages, [[call('exec_command', {}, 'c1')], [say('ok')]])
  const history = [
    ...(await converse(model, 1)),
    { type: 'message', role: 'developer', text: 'Mind the budget.' } as const,
    user('Hurry.'),
  ]
  await collectFinished(model, request({ history }))
  const { messages: sent } = mock.requests[1]?.body as { messages: { content: object[] }[] }
  const note = { type: 'text', text: '<system-reminder>\nMind the budget.\n</system-reminder>' }
  expect(sent.at(-1)?.content).toMatchObject([
    { type: 'tool_result', tool_use_id: 'c1', content: [{ type: 'text', text: 'done' }, note] },
    { type: 'text', text: 'Hurry.' },
  ])
})

describe('Gemini', () => {
  const gemini: WireUnderTest = { ...chat, model: 'local/gemini-3-pro-preview' }
  const signature = { google: { thought_signature: 'signed' } }
  const frames = [
    chatChunk({
      tool_calls: [
        {
          index: 0,
          id: 'a',
          type: 'function',
          function: { name: 'exec_command', arguments: '{}' },
          extra_content: signature,
        },
        { index: 1, id: 'b', type: 'function', function: { name: 'exec_command', arguments: '{}' } },
      ],
    }),
    chatChunk({}, 'tool_calls'),
    chatDone,
  ]

  test('gets back the signatures of its calls', async () => {
    const { mock, model } = await startWire(gemini, [{ frames }, [say('Done.')]])
    await converse(model, 2)
    expect(JSON.stringify(mock.requests[1]?.body)).toContain(
      '"extra_content":{"google":{"thought_signature":"signed"}}',
    )
  })

  test('accepts calls of another model', async () => {
    const { mock, model } = await startWire(chat, [[call('exec_command', {})], [say('Done.')]])
    const history = await converse(model, 1)
    await collectFinished(await another(chat, mock, gemini.model), request({ history }))
    expect(JSON.stringify(mock.requests[1]?.body)).toContain('skip_thought_signature_validator')
  })
})

test('OpenRouter gets back the details of the reasoning, in one piece, but another model does not', async () => {
  const detail = (text: string, more = {}) => ({
    type: 'reasoning.text',
    index: 0,
    format: 'anthropic-claude-v1',
    text,
    ...more,
  })
  const frames = [
    chatChunk({ reasoning: 'Let me ', reasoning_details: [detail('Let me ')] }),
    chatChunk({ reasoning: 'see.', reasoning_details: [detail('see.')] }),
    chatChunk({ reasoning_details: [detail('', { signature: 'sig' })] }),
    chatChunk({ tool_calls: [{ index: 0, function: { name: 'exec_command', arguments: '{}' } }] }, 'tool_calls'),
    chatDone,
  ]
  const { mock, model } = await startWire(chat, [{ frames }, [say('Done.')], [say('Done.')]])
  const history = [...(await converse(model, 2)), user('And now?')]
  expect(JSON.stringify(mock.requests[1]?.body)).toContain(
    `"reasoning_details":${JSON.stringify([{ ...detail('Let me see.'), signature: 'sig' }])}`,
  )
  await collectFinished(await another(chat, mock, 'local/gpt-oss'), request({ history }))
  expect(JSON.stringify(mock.requests[2]?.body)).not.toContain('reasoning_details')
})

describe('OpenAI', () => {
  const item = (value: object): string => frame({ type: 'response.output_item.done', item: value })
  const end = frame({ type: 'response.completed', response: { usage: null } })

  test('gets back items as they arrived, without the ids that it does not know', async () => {
    const shiny = { type: 'shiny', id: 'sh_1', sealed: 'abc' }
    const content = [
      { type: 'output_text', text: 'See.', annotations: [{ type: 'url_citation', url: 'https://e.com/' }] },
    ]
    const frames = [
      item({ type: 'reasoning', id: 'rs_1', summary: [], content: null, status: null, encrypted_content: 'blob' }),
      item(shiny),
      item({ type: 'message', id: 'msg_1', status: 'completed', role: 'assistant', content }),
      item({ type: 'function_call', id: 'fc_1', call_id: 'c1', name: 'exec_command', arguments: '{}', namespace: 'n' }),
      end,
    ]
    const { mock, model } = await startWire(responses, [{ frames }, [say('Done.')]])
    await converse(model, 2)
    const { input } = mock.requests[1]?.body as { input: readonly object[] }
    expect(input.slice(1, -1)).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'blob' },
      shiny,
      { type: 'message', role: 'assistant', content },
      { type: 'function_call', call_id: 'c1', name: 'exec_command', arguments: '{}', namespace: 'n' },
    ])
  })

  test('does not get another model’s reasoning and searches, or reasoning without a result', async () => {
    const { mock, model } = await startWire(responses, [
      [think('A', 'blob'), search('how'), say('So.')],
      [say('ok')],
      [think('B', 'lone')],
      [say('ok')],
    ])
    const history = [...(await converse(model, 1)), user('And now?')]
    await collectFinished(await another(responses, mock, 'gpt-5.4'), request({ history }))
    expect(JSON.stringify(mock.requests[1]?.body)).not.toMatch(/blob|web_search_call/)
    const more = [...history, ...kept(await collectFinished(model, request({ history }))), user('Well?')]
    await collectFinished(model, request({ history: more }))
    expect(JSON.stringify(mock.requests[3]?.body)).toContain('blob')
    expect(JSON.stringify(mock.requests[3]?.body)).not.toContain('lone')
  })

  test('is understood if everything arrives in the last event', async () => {
    const output = [{ type: 'message', content: [{ type: 'output_text', text: 'Late.' }] }]
    const { model } = await startWire(responses, [
      { frames: [frame({ type: 'response.completed', response: { output } })] },
    ])
    expect(await collectFinished(model)).toMatchObject([{ type: 'message', text: 'Late.' }, { type: 'end' }])
  })
})
