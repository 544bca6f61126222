import { readChat } from './chat-events.ts'
import { buildChatBody } from './chat-request.ts'
import type { Endpoint } from './endpoint.ts'
import type { OpenAIConnection } from './openai-sdk.ts'
import type { Wire } from './wire.ts'

/**
 * Chat Completions, as OpenAI defined them and compatible servers speak them. A schema is sent along, but whether the
 * server holds the model to it can't be known.
 */
export function chatWire(model: string, endpoint: Endpoint): Wire {
  let connection: Promise<OpenAIConnection> | undefined
  return {
    enforcesSchema: false,
    searchesWeb: false,
    prepare: (request) => {
      const body = buildChatBody(model, request)
      return async (signal) => (await (connection ??= connect(endpoint))).chat(body, signal)
    },
    read: readChat,
  }
}

async function connect(endpoint: Endpoint): Promise<OpenAIConnection> {
  return (await import('./openai-sdk.ts')).connectOpenAI(endpoint)
}
