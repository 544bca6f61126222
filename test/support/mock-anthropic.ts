import { MessagesConformance } from './conformance/messages.ts'
import { frame, pieces, startMockModel } from './mock-model.ts'
import type { Ending, MockModel, Output, Replies, Spoken } from './mock-model.ts'

/**
 * A loopback server that speaks Anthropic's Messages wire format as server-sent events
 * (https://platform.claude.com/docs/en/build-with-claude/streaming). Like the real server, it answers 400 to what `MessagesConformance` refuses. A
 * reasoning output without a summary is sent as redacted thinking.
 */
export function startMockAnthropic(options: { readonly replies: Replies }): Promise<MockModel> {
  return startMockModel(
    {
      path: '/v1/messages',
      base: '',
      conformance: new MessagesConformance(),
      errorBody: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
      frames: messageFrames,
    },
    options.replies,
  )
}

/** The server-sent events of a response, as they are sent to the client. */
export function messageFrames(
  { say, usage = {}, end = { type: 'completed' } }: Spoken,
  index: number,
): readonly string[] {
  const message = { id: `msg_${index}`, type: 'message', role: 'assistant', model: 'mock', content: [] }
  const input = {
    input_tokens: (usage.input ?? 0) - (usage.cached ?? 0) - (usage.cacheWrite ?? 0),
    cache_read_input_tokens: usage.cached ?? 0,
    cache_creation_input_tokens: usage.cacheWrite ?? 0,
  }
  const searches = say.filter((output) => output.type === 'search' && output.found !== undefined).length
  const counts = {
    output_tokens: usage.output ?? 0,
    output_tokens_details: { thinking_tokens: usage.reasoning ?? 0 },
    ...(searches === 0 ? {} : { server_tool_use: { web_search_requests: searches } }),
  }
  const hasCalls = say.some((output) => output.type === 'function' || output.type === 'freeform')
  return [
    frame({
      type: 'message_start',
      message: { ...message, stop_reason: null, usage: { ...input, output_tokens: 1, output_tokens_details: null } },
    }),
    frame({ type: 'ping' }),
    ...say.flatMap((output, at) => blockFrames(output, at, `toolu_${index}_${at}`)),
    ...endFrames(end, hasCalls ? 'tool_use' : 'end_turn', counts),
  ]
}

function endFrames(end: Ending, stopReason: string, usage: object): readonly string[] {
  const stop = (reason: string): readonly string[] => [
    frame({ type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage }),
    frame({ type: 'message_stop' }),
  ]
  switch (end.type) {
    case 'completed':
      return stop(stopReason)
    case 'incomplete':
      return stop(end.reason)
    case 'failed':
    case 'error':
      return [frame({ type: 'error', error: { type: end.code, message: end.message } })]
    case 'missing':
      return []
    default:
      return end satisfies never
  }
}

type Reasoning = Extract<Output, { type: 'reasoning' }>

function thinkingBlock({ summary, encrypted }: Reasoning): Readonly<Record<string, string>> {
  return summary === ''
    ? { type: 'redacted_thinking', data: encrypted }
    : { type: 'thinking', thinking: summary, signature: encrypted }
}

function blockFrames(output: Output, index: number, key: string): readonly string[] {
  const block = (start: object, deltas: readonly object[]): readonly string[] => [
    frame({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => frame({ type: 'content_block_delta', index, delta })),
    frame({ type: 'content_block_stop', index }),
  ]
  switch (output.type) {
    case 'text': {
      const deltas = pieces(output.text).map((text) => ({ type: 'text_delta', text }))
      return block({ type: 'text', text: '' }, deltas)
    }
    case 'reasoning': {
      if (output.summary === '') return block(thinkingBlock(output), [])
      const deltas = pieces(output.summary).map((thinking) => ({ type: 'thinking_delta', thinking }))
      const signature = { type: 'signature_delta', signature: output.encrypted }
      return block({ type: 'thinking', thinking: '', signature: '' }, [...deltas, signature])
    }
    case 'search':
      return searchFrames(output, index, key)
    case 'function':
    case 'freeform': {
      const args = output.type === 'function' ? output.arguments : JSON.stringify({ input: output.input })
      const deltas = pieces(args).map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
      const start = { type: 'tool_use', id: output.id ?? key, name: output.name, input: {} }
      return block(start, [{ type: 'input_json_delta', partial_json: '' }, ...deltas])
    }
    default:
      return output satisfies never
  }
}

/**
 * A query to the provider's search, and the results. As in the real API, the query and the results are separate blocks, which come in one response or
 * in two with a pause between them.
 */
function searchFrames(
  { query, found }: Extract<Output, { type: 'search' }>,
  index: number,
  key: string,
): readonly string[] {
  const id = query === undefined ? pausedId : `srv${key}`
  if (query !== undefined) pausedId = id
  const asked = { type: 'server_tool_use', id, name: 'web_search', input: {} }
  const input = { type: 'input_json_delta', partial_json: JSON.stringify({ query }) }
  const page = {
    type: 'web_search_result',
    url: found,
    title: 'A page',
    encrypted_content: `sealed ${found}`,
    page_age: null,
  }
  const result = { type: 'web_search_tool_result', tool_use_id: id, content: [page] }
  const block = (at: number, content: object, delta?: object): readonly string[] => [
    frame({ type: 'content_block_start', index: at, content_block: content }),
    ...(delta === undefined ? [] : [frame({ type: 'content_block_delta', index: at, delta })]),
    frame({ type: 'content_block_stop', index: at }),
  ]
  return [
    ...(query === undefined ? [] : block(index, asked, input)),
    ...(found === undefined ? [] : block(index + 100, result)),
  ]
}

let pausedId = ''
