import { expect, test } from 'vitest'
import type { HistoryItem } from '../../../engine/core/model.ts'
import { buildChatBody } from '../../../engine/models/chat-request.ts'
import { buildMessagesBody } from '../../../engine/models/messages-request.ts'
import { buildResponsesBody } from '../../../engine/models/responses-request.ts'
import { serialiseBody } from '../../../engine/models/serialise-body.ts'
import { request } from './conversation.ts'

const thinking = { from: 'anthropic-messages', block: { type: 'thinking', thinking: 'Plan.', signature: 'sig' } }
const images = [{ mediaType: 'image/png', data: 'AA==' }]

/**
 * A conversation in which turns become longer after they were sent, because results arrive one by one, and because a message is added to the same
 * turn as the messages before it.
 */
const history: readonly HistoryItem[] = [
  { type: 'message', role: 'developer', text: '"input":[] \u2028 – 今すぐ' },
  { type: 'message', role: 'user', text: 'go', images },
  { type: 'message', role: 'developer', text: 'mind the tests' },
  { type: 'reasoning', text: 'of one provider', opaque: thinking },
  { type: 'message', role: 'assistant', text: 'Two at once.' },
  { type: 'tool_call', call: { id: 'a', name: 'apply_patch', kind: 'freeform', input: '*** Begin Patch' } },
  { type: 'tool_call', call: { id: 'b', name: 'exec_command', kind: 'function', input: '{}' } },
  { type: 'tool_result', callId: 'a', output: 'ok', ok: true },
  { type: 'tool_result', callId: 'b', output: 'ok', ok: true, images },
  { type: 'message', role: 'assistant', text: 'Next.' },
  { type: 'message', role: 'user', text: 'and more' },
]

const wires = [
  ['Responses', 'input', (items: readonly HistoryItem[]) => buildResponsesBody('gpt-5.5', request({ history: items }))],
  ['Chat', 'messages', (items: readonly HistoryItem[]) => buildChatBody('qwen3', request({ history: items }))],
  [
    'Messages',
    'messages',
    (items: readonly HistoryItem[]) => buildMessagesBody('claude-opus-5', request({ history: items })),
  ],
] as const

test.each(wires)('a request of %s is the same, whatever part of it was sent before', (_, list, build) => {
  for (let length = 0; length <= history.length; length++) {
    const items = history.slice(0, length)
    // Nothing is cached for a copy of the items, so the body is built anew.
    const anew = JSON.stringify(build(structuredClone(items)))
    for (let times = 0; times < 2; times++) expect(serialiseBody(build(items), list as never)).toBe(anew)
  }
})

test('the type of a result depends on its call, even if only the result is new', () => {
  const { input } = buildResponsesBody('gpt-5.5', request({ history: history.slice(0, 9) }))
  expect(input.slice(-2)).toMatchObject([{ type: 'custom_tool_call_output' }, { type: 'function_call_output' }])
})

test('texts with unpaired surrogates are sent without them, wherever they are', () => {
  const cut = 'cut \ud83d, \udc00, whole 🚪, said \\ud83d'
  const body = { instructions: cut, tools: [{ description: cut }], input: [{ type: 'text', text: cut }] }
  const sent = 'cut \ufffd, \ufffd, whole 🚪, said \\ud83d'
  const expected = { instructions: sent, tools: [{ description: sent }], input: [{ type: 'text', text: sent }] }
  expect(serialiseBody(body, 'input')).toBe(JSON.stringify(expected))
})
