import { connectAnthropic } from './anthropic-sdk.ts'
import type { AnthropicConnection } from './anthropic-sdk.ts'
import { enforcesSchema } from './claude-models.ts'
import type { Endpoint } from './endpoint.ts'
import { hasStopped, readMessages } from './messages-events.ts'
import { buildMessages } from './messages-request.ts'
import type { Wire } from './wire.ts'

/** Returns a `Wire` that speaks Anthropic's Messages API. `model` is the provider's name for the model. */
export function messagesWire(model: string, endpoint: Endpoint): Wire {
  let connection: Promise<AnthropicConnection> | undefined
  return {
    enforcesSchema: enforcesSchema(model),
    searchesWeb: true,
    prepare: (request) => {
      const { body, prefix } = buildMessages(model, request)
      return {
        send: async (signal) => (await (connection ??= connectAnthropic(endpoint))).messages(body, signal),
        isEnd: hasStopped,
        read: (stream) => readMessages(stream, model, prefix),
      }
    },
  }
}
