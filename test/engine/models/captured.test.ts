import { describe, expect, test } from 'vitest'
import { ChatConformance } from '../../support/conformance/chat.ts'
import { MessagesConformance } from '../../support/conformance/messages.ts'
import { ResponsesConformance } from '../../support/conformance/responses.ts'
import type { Received } from '../../support/sse-server.ts'

const received = (body: object): Received => ({
  method: 'POST',
  path: '/',
  headers: { 'anthropic-version': '2023-06-01' },
  body,
  over: Promise.resolve(),
})

/**
 * Requests in forms that real servers answered with 200, or that the providers' own programs send. The texts in them are ours. A strict server that
 * refused one of these requests would be stricter than the server that it imitates.
 */
describe('a strict server accepts what a real one accepted', () => {
  /**
   * The schema, calls and results are from `tests/lib/tools/nockFixtures/ToolRunner.json` of anthropics/anthropic-sdk-typescript, which was recorded
   * with claude-opus-4-8 and claude-sonnet-4-5.
   */
  const schema = { type: 'object', properties: { count: { type: 'number' } }, required: ['count'] }
  const tool = { type: 'custom', name: 'test_tool', input_schema: { ...schema, additionalProperties: false } }
  const asked = { role: 'user', content: 'Call it with 1, then with 2' }
  const use = (id: string, count: number): object => ({ type: 'tool_use', id, name: 'test_tool', input: { count } })
  const result = (id: string, content: string): object => ({ type: 'tool_result', tool_use_id: id, content })
  const [one, two] = ['toolu_01L8GVQapA1HmggQcrwboukH', 'toolu_01J5Fvzxu7DP1Uh59c1kr5JD']
  test.each<[string, object]>([
    ['a text alone', { messages: [asked] }],
    [
      'two calls and their results',
      {
        messages: [
          asked,
          { role: 'assistant', content: [{ type: 'text', text: 'Both.' }, use(one, 1), use(two, 2)] },
          { role: 'user', content: [result(one, 'called with 1'), result(two, 'called with 2')] },
        ],
      },
    ],
    [
      'two user messages in a row',
      { messages: [asked, { role: 'user', content: [{ type: 'text', text: 'Sum it up.' }] }] },
    ],
  ])('Messages: %s', (_, { messages }: { messages?: unknown }) => {
    const body = { model: 'claude-opus-4-8', max_tokens: 1000, stream: false, tools: [tool], messages }
    expect(new MessagesConformance().complaint(received(body))).toBeUndefined()
  })

  /** The conversation in `tests/lib/ChatCompletionRunFunctions.test.ts` of openai/openai-node: a call, its result, and an answer. */
  test('Chat Completions: a call, its result and the answer', () => {
    const call = { id: '123', type: 'function', function: { name: 'getWeather', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'What is the weather like?' },
      { role: 'assistant', content: null, tool_calls: [call], parsed: null, refusal: null },
      { role: 'tool', tool_call_id: '123', content: 'It rains' },
      { role: 'assistant', content: 'It rains.' },
      { role: 'user', content: 'Thanks' },
    ]
    const declared = { name: 'getWeather', parameters: { type: 'object', properties: {} }, description: 'The weather' }
    const tools = [{ type: 'function', function: declared }]
    const body = { model: 'gpt-4.1', stream: true, messages, tools, tool_choice: 'auto' }
    expect(new ChatConformance().complaint(received(body))).toBeUndefined()
  })

  /**
   * A request in the form in which Codex 0.169 sends it. The kinds of tools and input items in it are those of a request that was captured on
   * loopback.
   */
  test('Responses: a first request of Codex, and what follows a call', () => {
    const say = (role: string, text: string): object => ({
      type: 'message',
      role,
      content: [{ type: 'input_text', text }],
    })
    const input = [say('developer', 'Be brief.'), say('user', 'Context.'), say('user', 'say hi')]
    const parameters = {
      type: 'object',
      properties: { cmd: { type: 'string' } },
      required: ['cmd'],
      additionalProperties: false,
    }
    const body = {
      model: 'gpt-5.5',
      input,
      tools: [{ type: 'function', name: 'exec_command', description: 'Runs a command', strict: false, parameters }],
      tool_choice: 'auto',
      parallel_tool_calls: true,
      reasoning: { effort: 'medium' },
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: '01a2045f-15da-7fe3-bcd8-d72368c0300b',
      text: { verbosity: 'low' },
    }
    expect(new ResponsesConformance().complaint(received(body))).toBeUndefined()
    const call = { type: 'function_call', call_id: 'call_1', name: 'exec_command', arguments: '{"cmd":"ls"}' }
    const output = { type: 'function_call_output', call_id: 'call_1', output: 'a.txt' }
    expect(new ResponsesConformance().complaint(received({ ...body, input: [...input, call, output] }))).toBeUndefined()
  })
})
