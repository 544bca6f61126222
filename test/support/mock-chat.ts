import { ChatConformance } from './conformance/chat.ts'
import { pieces, startMockModel } from './mock-model.ts'
import type { Ending, MockModel, MockUsage, Output, Replies, Spoken } from './mock-model.ts'

/**
 * A loopback server that speaks OpenAI's Chat Completions wire format as server-sent events
 * (https://platform.openai.com/docs/api-reference/chat-streaming). Like real servers, it answers 400 to what `ChatConformance` refuses.
 */
export function startMockChat(options: { readonly replies: Replies }): Promise<MockModel> {
  return startMockModel(
    {
      path: '/v1/chat/completions',
      base: '/v1',
      conformance: new ChatConformance(),
      errorBody: (message) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
      frames: completionFrames,
    },
    options.replies,
  )
}

/** One chunk of a completion, for tests that imitate a server with peculiarities. */
export function chatChunk(delta: object, finish: string | null = null): string {
  return chunk([{ index: 0, delta, logprobs: null, finish_reason: finish }])
}

export const chatDone = 'data: [DONE]\n\n'

function chunk(choices: readonly object[], usage: object | null = null): string {
  const base = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_750_000_000, model: 'mock' }
  return `data: ${JSON.stringify({ ...base, choices, usage })}\n\n`
}

/** The server-sent events of a response, as they are sent to the client. */
export function completionFrames(
  { say, usage = {}, end = { type: 'completed' } }: Spoken,
  index: number,
): readonly string[] {
  const calls = say.filter((output) => output.type === 'function' || output.type === 'freeform')
  const started = [
    chatChunk({ role: 'assistant', content: '' }),
    ...say.flatMap((output) => outputChunks(output, calls.indexOf(output as never), `${index}_${say.indexOf(output)}`)),
  ]
  return [...started, ...endFrames(end, calls.length > 0, usage)]
}

function endFrames(end: Ending, hasCalls: boolean, usage: MockUsage): readonly string[] {
  switch (end.type) {
    case 'completed':
      return [chatChunk({}, hasCalls ? 'tool_calls' : 'stop'), usageFrame(usage), chatDone]
    case 'incomplete':
      return [chatChunk({}, end.reason), usageFrame(usage), chatDone]
    case 'failed':
    case 'error':
      return [`data: ${JSON.stringify({ error: { message: end.message, code: end.code } })}\n\n`]
    case 'missing':
      return []
    default:
      return end satisfies never
  }
}

function usageFrame(usage: MockUsage): string {
  return chunk([], {
    prompt_tokens: usage.input ?? 0,
    completion_tokens: usage.output ?? 0,
    total_tokens: (usage.input ?? 0) + (usage.output ?? 0),
    prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
  })
}

function outputChunks(output: Output, callIndex: number, key: string): readonly string[] {
  switch (output.type) {
    case 'text':
      return pieces(output.text).map((content) => chatChunk({ content }))
    case 'reasoning':
      return pieces(output.summary).map((reasoning) => chatChunk({ reasoning_content: reasoning }))
    case 'search':
      throw new Error('mock: this API knows no web search')
    case 'function':
    case 'freeform': {
      const args = output.type === 'function' ? output.arguments : JSON.stringify({ input: output.input })
      const start = { index: callIndex, id: output.id ?? `call_${key}`, type: 'function' }
      return [
        chatChunk({ tool_calls: [{ ...start, function: { name: output.name, arguments: '' } }] }),
        ...pieces(args).map((piece) =>
          chatChunk({ tool_calls: [{ index: callIndex, function: { arguments: piece } }] }),
        ),
      ]
    }
    default:
      return output satisfies never
  }
}
