import { hasFinished, readChat } from './chat-events.ts'
import { buildChatBody } from './chat-request.ts'
import type { ChatBody } from './chat-request.ts'
import type { Endpoint } from './endpoint.ts'
import { ProviderFailure } from './failure.ts'
import { mostTools } from './openai-models.ts'
import type { OpenAIConnection } from './openai-sdk.ts'
import { cutPrompt } from './cut-prompt.ts'
import type { Wire } from './wire.ts'

/**
 * Returns a `Wire` that speaks Chat Completions, the API that OpenAI defined and that compatible servers implement. An output schema is sent, but it is not
 * known whether the server enforces it.
 */
export function chatWire(model: string, endpoint: Endpoint): Wire {
  let connection: Promise<OpenAIConnection> | undefined
  let countsInStream = true
  const isCut = cutPrompt()
  const ask = async (body: ChatBody, signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
    const { stream_options: _, ...uncounted } = body
    const open = await (connection ??= connect(endpoint))
    try {
      return await open.chat(countsInStream ? body : uncounted, signal)
    } catch (error) {
      // A server that doesn't know `stream_options` names this field in its error.
      const isUnknown =
        error instanceof ProviderFailure && error.kind === 'refused' && /stream_options/.test(error.message)
      if (!isUnknown || !countsInStream) throw error
      countsInStream = false
      return open.chat(uncounted, signal)
    }
  }
  return {
    enforcesSchema: false,
    searchesWeb: false,
    mostTools,
    prepare: (request) => {
      const body = buildChatBody(model, request)
      const tools = request.tools.map(({ name }) => name)
      return {
        send: (signal) => ask(body, signal),
        isEnd: hasFinished,
        read: async function* (stream) {
          for await (const event of readChat(stream, model, tools)) {
            const message = event.type === 'end' ? isCut(body, event.usage) : undefined
            if (message !== undefined) yield { type: 'notice', message }
            yield event
          }
        },
      }
    },
  }
}

async function connect(endpoint: Endpoint): Promise<OpenAIConnection> {
  return (await import('./openai-sdk.ts')).connectOpenAI(endpoint)
}
