import { describe, expect, test } from 'vitest'
import { ChatConformance } from '../../support/conformance/chat.ts'
import { MessagesConformance } from '../../support/conformance/messages.ts'
import { ResponsesConformance } from '../../support/conformance/responses.ts'
import { chatChunk } from '../../support/mock-chat.ts'
import { frame } from '../../support/mock-model.ts'
import type { Received } from '../../support/sse-server.ts'

const received = (body: unknown): Received => ({
  method: 'POST',
  path: '/',
  headers: { 'anthropic-version': '2023-06-01' },
  body,
  over: Promise.resolve(),
})

type Row = readonly [what: string, change: Readonly<Record<string, unknown>>, words: RegExp]

describe('Anthropic’s API, as mocked, refuses', () => {
  const user = (...content: readonly object[]): object => ({ role: 'user', content })
  const claude = (...content: readonly object[]): object => ({ role: 'assistant', content })
  const text = (words: string): object => ({ type: 'text', text: words })
  const use = { type: 'tool_use', id: 't1', name: 'ls', input: {} }
  const result = { type: 'tool_result', tool_use_id: 't1', content: [], is_error: false }
  const thinking = { type: 'thinking', thinking: 'hm', signature: 's1' }
  const body = { model: 'claude-opus-5-5', max_tokens: 1000, messages: [user(text('go'))] }
  const talk = (...messages: readonly object[]): object => ({ messages: [user(text('go')), ...messages] })

  const rows: readonly Row[] = [
    ['no limit', { max_tokens: undefined }, /max_tokens/],
    ['a limit that the model does not have', { model: 'claude-opus-4-1', max_tokens: 64_000 }, /maximum allowed/],
    ['a model that begins', { messages: [claude(text('x'))] }, /first message/],
    ['a prefill', talk(claude(text('x'))) as never, /prefill/],
    ['an empty text', talk(claude(text('x')), user(text(' '))) as never, /non-whitespace/],
    ['an empty message', talk(claude(), user(text('x'))) as never, /non-empty content/],
    ['a call that nobody answers', talk(claude(use), user(text('x'))) as never, /without `tool_result`/],
    ['a result behind something else', talk(claude(use), user(text('x'), result)) as never, /without `tool_result`/],
    ['a result without its call', talk(claude(text('x')), user(result)) as never, /unexpected `tool_use_id`/],
    [
      'a turn that ends in a thought',
      talk(claude(text('x'), thinking), user(text('x'))) as never,
      /cannot be `thinking`/,
    ],
    ['a thought that it never had', talk(claude(thinking, text('x')), user(text('x'))) as never, /Invalid `signature`/],
    ['thinking switched off', { thinking: { type: 'disabled' } }, /not supported/],
    ['a budget for thinking', { thinking: { type: 'enabled', budget_tokens: 1024 } }, /not supported/],
    [
      'a call of what is no name',
      talk(claude({ ...use, name: 'a.b' }), user(result)) as never,
      /tool_use.name: String should match/,
    ],
    ['a name that is no name', { tools: [{ name: 'a.b', input_schema: { type: 'object' } }] }, /pattern/],
  ]
  test.each(rows)('%s', (_, change, words) => {
    expect(new MessagesConformance().complaint(received({ ...body, ...change }))).toMatch(words)
  })

  test('a thought if the messages before it have changed, and accepts it otherwise', () => {
    const server = new MessagesConformance()
    const first = received({ ...body, system: [text('Be brief.')] })
    server.sent(first, [
      frame({
        type: 'content_block_start',
        index: 0,
        content_block: { type: 'thinking', thinking: 'hm', signature: '' },
      }),
      frame({ type: 'content_block_delta', index: 0, delta: { type: 'signature_delta', signature: 's1' } }),
      frame({ type: 'content_block_start', index: 1, content_block: use }),
    ])
    const next = { ...body, ...talk(claude(thinking, use), user(result)) }
    expect(server.complaint(received({ ...next, system: [text('Be brief.')] }))).toBeUndefined()
    expect(server.complaint(received({ ...next, system: [text('Be long.')] }))).toMatch(/different conversation/)
    expect(server.complaint(received({ ...next, model: 'claude-opus-5', system: [text('Be long.')] }))).toBeUndefined()
  })
})

describe('servers of Chat Completions, as mocked, refuse', () => {
  const user = { role: 'user', content: 'go' }
  const called = (id: string, more: object = {}): object => ({
    role: 'assistant',
    content: null,
    tool_calls: [{ id, type: 'function', function: { name: 'ls', arguments: '{}' }, ...more }],
  })
  const answer = { role: 'tool', tool_call_id: 'c1', content: '' }
  const tool = (name: string, properties: object): object => ({
    type: 'function',
    function: { name, parameters: { type: 'object', properties } },
  })
  const many = Array.from({ length: 129 }, (_, at) => tool(`t${at}`, {}))
  const rows: readonly Row[] = [
    ['a late system message', { messages: [user, { role: 'system', content: 'x' }] }, /at the beginning/],
    ['a prefill', { messages: [user, { role: 'assistant', content: 'x' }] }, /prefill/],
    ['a call that nobody answers', { messages: [user, called('c1'), user] }, /did not have response messages/],
    ['a result without its call', { messages: [user, answer] }, /must be a response/],
    [
      'a model that says nothing',
      { messages: [user, { role: 'assistant', content: null }, user] },
      /Expected 'content'/,
    ],
    ['too many tools', { tools: many }, /at most 128/],
    ['two users in a row', { messages: [user, user] }, /must alternate/],
    ['an id that is none to Mistral', { model: 'devstral', messages: [user, called('c1'), answer] }, /length of 9/],
    [
      'a user behind a tool of Mistral',
      { model: 'devstral', messages: [user, called('abcdef123'), { ...answer, tool_call_id: 'abcdef123' }, user] },
      /Unexpected role 'user' after role 'tool'/,
    ],
    [
      'a long id',
      { model: 'gpt-5.5', messages: [user, called('c'.repeat(41)), { ...answer, tool_call_id: 'c'.repeat(41) }] },
      /maximum length 40/,
    ],
    [
      'a call of what is no name',
      { messages: [user, called('c1', { function: { name: 'a b', arguments: '{}' } }), answer] },
      /does not match pattern/,
    ],
    ['a lookahead', { tools: [tool('a', { x: { type: 'string', pattern: '^(?!a).*$' } })] }, /lookahead/],
    ['a long length', { tools: [tool('a', { x: { type: 'string', maxLength: 2000 } })] }, /repetitions/],
    ['a schema that says nothing', { tools: [tool('a', { x: {} })] }, /Unrecognized schema/],
    ['the old name of a limit', { model: 'gpt-5.5', max_tokens: 9 }, /max_completion_tokens/],
    [
      'a call without its signature',
      { model: 'gemini-3-pro', messages: [user, called('c1'), answer] },
      /thought_signature/,
    ],
  ]
  test.each(rows)('%s', (_, change, words) => {
    expect(new ChatConformance().complaint(received({ model: 'qwen3', messages: [user], ...change }))).toMatch(words)
  })

  test('a call without the parts that came with it', () => {
    const server = new ChatConformance()
    const beside = { extra_content: { google: { thought_signature: 'x' } } }
    server.sent(received({}), [chatChunk({ tool_calls: [{ index: 0, id: 'c1', function: {}, ...beside }] })])
    const messages = (more: object): object => ({ model: 'm', messages: [user, called('c1', more), answer] })
    expect(server.complaint(received(messages({})))).toMatch(/not as it was sent/)
    expect(server.complaint(received(messages(beside)))).toBeUndefined()
  })
})

describe('OpenAI’s API, as mocked, refuses', () => {
  const user = { type: 'message', role: 'user', content: 'go' }
  const call = { type: 'function_call', call_id: 'c1', name: 'ls', arguments: '{}' }
  const output = { type: 'function_call_output', call_id: 'c1', output: '' }
  const reasoning = { type: 'reasoning', id: 'r1', summary: [], encrypted_content: 'z' }
  const rows: readonly Row[] = [
    ['a call that nobody answers', { input: [user, call] }, /No tool output/],
    ['an answer before its call', { input: [user, output, call] }, /No tool output/],
    ['an answer without its call', { input: [user, output] }, /No tool call/],
    ['two answers to a call', { input: [user, call, output, output] }, /Duplicate/],
    ['reasoning that it never sent', { input: [user, reasoning, call, output] }, /could not be verified/],
    [
      'too many tools',
      { tools: Array.from({ length: 129 }, (_, at) => ({ type: 'function', name: `t${at}` })) },
      /at most 128/,
    ],
    [
      'a long id',
      { input: [user, { ...call, call_id: 'c'.repeat(65) }, { ...output, call_id: 'c'.repeat(65) }] },
      /maximum length 64/,
    ],
    ['a call of what is no name', { input: [user, { ...call, name: 'a.b' }, output] }, /does not match pattern/],
    ['so short a limit', { max_output_tokens: 15 }, /below minimum/],
    ['a long key', { prompt_cache_key: 'x'.repeat(65) }, /too long/],
    ['to think where it can not', { model: 'gpt-4.1', include: ['reasoning.encrypted_content'] }, /not supported/],
  ]
  test.each(rows)('%s', (_, change, words) => {
    expect(new ResponsesConformance().complaint(received({ model: 'gpt-5.5', input: [user], ...change }))).toMatch(
      words,
    )
  })

  test('reasoning without its result, and a result without its reasoning', () => {
    const server = new ResponsesConformance()
    const item = { ...call, id: 'fc1' }
    server.sent(
      received({}),
      [reasoning, item].map((each) => frame({ type: 'response.output_item.done', item: each })),
    )
    const asked = (...input: readonly object[]): string | undefined =>
      server.complaint(received({ model: 'gpt-5.5', input: [user, ...input] }))
    expect(asked(reasoning, item, output)).toBeUndefined()
    expect(asked(reasoning, user)).toMatch(/required following item/)
    expect(asked(item, output)).toMatch(/required 'reasoning' item/)
    expect(asked(call, output)).toBeUndefined()
  })
})
