import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import { boundedFetch } from './bounded-fetch.ts'
import type { Endpoint } from './endpoint.ts'
import type { MessagesBody } from './messages-request.ts'
import { serialiseBody } from './serialise-body.ts'
import { translateSdkError, translateStream } from './sdk-error.ts'

/** An open client. A call resolves when the headers are in and then yields events; failures are `ProviderFailure`. */
export type AnthropicConnection = {
  messages(body: MessagesBody, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

/** The one door to Anthropic's SDK: loaded here, and only when a model that needs it is asked something. */
export async function connectAnthropic(endpoint: Endpoint): Promise<AnthropicConnection> {
  const sdk = await import('@anthropic-ai/sdk')
  const client = new sdk.Anthropic({
    baseURL: endpoint.baseUrl,
    // Set so that the client looks for no credentials of its own; we set the header.
    apiKey: 'none',
    defaultHeaders: { 'x-api-key': null, authorization: null },
    defaultQuery: { ...endpoint.query },
    fetch: boundedFetch(endpoint.heard),
    // Retries are ours, so that each is an event; its logger would write to a stdout that belongs to the result.
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  })
  const translate = (error: unknown): unknown => translateSdkError(error, sdk, endpoint.baseUrl)
  return {
    messages: async (body, signal) => {
      const headers = { ...(await endpoint.headers()), 'content-type': 'application/json' }
      // The model's output is sent back unchanged, whether the SDK knows its kind or not.
      const checked = body satisfies Omit<MessageCreateParamsStreaming, 'messages'>
      try {
        // Not `messages.create`: it warns of older models on the console, at every request.
        const asked = client.post<AsyncIterable<unknown>>('/v1/messages', {
          body: serialiseBody(checked, 'messages'),
          stream: true,
          signal,
          headers,
        })
        return translateStream(await asked, translate)
      } catch (error) {
        throw translate(error)
      }
    },
  }
}
