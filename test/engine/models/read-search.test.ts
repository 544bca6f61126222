import { describe, expect, test } from 'vitest'
import type { HistoryItem, ModelEvent } from '../../../engine/core/model.ts'
import { call, say, search } from '../../support/mock-model.ts'
import { collectFinished, request } from './conversation.ts'
import { startWire, wires } from './wires.ts'

const [responses, chat, messages] = wires
if (responses === undefined || chat === undefined || messages === undefined) throw new Error('there are three wires')

const webSearch = { mode: 'live', domains: ['example.com'] } as const

/** Returns what a run stores about a response, but without the reasoning. */
function historyOf(events: readonly ModelEvent[]): readonly HistoryItem[] {
  return events.flatMap((event): readonly HistoryItem[] => {
    if (event.type === 'message') return [{ ...event, role: 'assistant' }]
    return event.type === 'web_search' || event.type === 'tool_call' ? [event] : []
  })
}

const searched = (event: ModelEvent | undefined) => event?.type === 'web_search' && event.query

describe.each([responses, messages])('a web search on the wire of $wire', (wire) => {
  test('is offered only if the request allows it, with the allowed domains', async () => {
    const { mock, model } = await startWire(wire, [[say('a')], [say('b')]])
    await collectFinished(model, request())
    await collectFinished(model, request({ webSearch }))
    expect(JSON.stringify(mock.requests[0]?.body)).not.toContain('web_search')
    const { tools } = mock.requests[1]?.body as { tools: readonly object[] }
    expect(JSON.stringify(tools.at(-1))).toMatch(/^\{"type":"web_search.*"allowed_domains":\["example.com"\]/)
  })

  test('is an event in its place, is counted, and is sent back to the provider as it arrived', async () => {
    const replies = [[search('how deep'), say('So deep.'), call('exec_command', { cmd: 'true' }, 'c1')], [say('done')]]
    const { mock, model } = await startWire(wire, replies)
    const events = await collectFinished(model, request({ webSearch }))
    expect(events.map(({ type }) => type)).toEqual(['web_search', 'message', 'tool_call', 'end'])
    expect(searched(events[0])).toBe('how deep')
    const history: readonly HistoryItem[] = [
      ...request().history,
      ...historyOf(events),
      { type: 'tool_result', callId: 'c1', output: '', ok: true },
    ]
    await collectFinished(model, request({ webSearch, history }))
    const again = JSON.stringify(mock.requests[1]?.body)
    expect(again).toContain(wire === responses ? '"id":"ws_0_0"' : '"encrypted_content":"sealed https://example.com/"')
  })
})

test('searches of one provider are not sent to another', async () => {
  const from = await startWire(responses, [[search('how deep'), say('So deep.')]])
  const history = [...request().history, ...historyOf(await collectFinished(from.model, request({ webSearch })))]
  history.push({ type: 'message', role: 'user', text: 'sure?' })
  for (const wire of [chat, messages]) {
    const { mock, model } = await startWire(wire, [[say('yes')]])
    await collectFinished(model, request({ history }))
    expect(JSON.stringify(mock.requests[0]?.body)).not.toContain('how deep')
  }
})

test('only providers with a search report one', async () => {
  const able = await Promise.all([responses, chat, messages].map(async (wire) => (await startWire(wire, [])).model))
  expect(able.map(({ searchesWeb }) => searchesWeb)).toEqual([true, false, true])
})

test('OpenAI bills each query of a search, but not opening a page', async () => {
  const item = (action: object) => ({
    type: 'response.output_item.done',
    item: { type: 'web_search_call', id: 'ws_1', status: 'completed', action },
  })
  const end = { type: 'response.completed', response: { usage: { input_tokens: 5, output_tokens: 1 } } }
  const events = [
    item({ type: 'search', queries: ['one', 'two'] }),
    item({ type: 'open_page', url: 'https://example.com/a' }),
    item({ type: 'find_in_page', url: 'https://example.com/a', pattern: 'depth' }),
    item({ type: 'a_new_way' }),
    end,
  ]
  const frames = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const { model } = await startWire(responses, [{ frames }])
  const said = await collectFinished(model, request({ webSearch }))
  expect(said.map(searched)).toEqual([
    'one · two',
    'https://example.com/a',
    "'depth' in https://example.com/a",
    '',
    false,
  ])
  expect(said.at(-1)).toMatchObject({ type: 'end', usage: { webSearches: 2 } })
})

describe('Anthropic pauses a long turn', () => {
  const paused = {
    say: [{ type: 'search', query: 'how deep' }],
    usage: { input: 10, output: 2 },
    end: { type: 'incomplete', reason: 'pause_turn' },
  } as const
  const rest = {
    say: [{ type: 'search', found: 'https://example.com/' }, say('So deep.')],
    usage: { input: 20, output: 3 },
  } as const

  test('and continues from what it said so far: one response, whose whole usage counts', async () => {
    const { mock, model } = await startWire(messages, [paused, rest])
    const events = await collectFinished(model, request({ webSearch }))
    expect(mock.requests).toHaveLength(2)
    expect(events.map(({ type }) => type)).toEqual(['web_search', 'web_search', 'message', 'end'])
    expect(events.map(searched)).toEqual(['how deep', '', false, false])
    expect(events.at(-1)).toMatchObject({ usage: { inputTokens: 30, outputTokens: 5 } })
  })

  test('and a failure after the pause voids only what came after it', async () => {
    const { model } = await startWire(messages, [paused, { status: 500, body: messages.error('overloaded') }, rest])
    const events = await collectFinished(model, request({ webSearch }))
    const at = events.findIndex(({ type }) => type === 'retry')
    expect(events.slice(at + 1).map(searched)).toEqual(['how deep', '', false, false])
  })
})

test('an answer in many pieces, such as one with sources, is one message', async () => {
  const { model } = await startWire(messages, [[say('It is '), say('so deep'), say('.')]])
  expect((await collectFinished(model))[0]).toMatchObject({ type: 'message', text: 'It is so deep.' })
})
