import type { Endpoint } from './endpoint.ts'
import type { OpenAIConnection } from './openai-sdk.ts'
import { readResponses } from './responses-events.ts'
import { mostTools } from './openai-models.ts'
import { buildResponsesBody } from './responses-request.ts'
import type { Wire } from './wire.ts'

/** Returns the wire format of OpenAI's Responses API. `model` is the provider's name for the model. */
export function responsesWire(model: string, endpoint: Endpoint): Wire {
  let connection: Promise<OpenAIConnection> | undefined
  return {
    enforcesSchema: true,
    searchesWeb: true,
    mostTools,
    prepare: (request) => {
      const body = buildResponsesBody(model, request)
      return {
        send: async (signal) => (await (connection ??= connect(endpoint))).responses(body, signal),
        // The reader stops at the last event by itself.
        isEnd: () => false,
        read: (stream) => readResponses(stream, model),
      }
    },
  }
}

async function connect(endpoint: Endpoint): Promise<OpenAIConnection> {
  return (await import('./openai-sdk.ts')).connectOpenAI(endpoint)
}
