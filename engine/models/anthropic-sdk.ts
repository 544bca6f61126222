import type { MessageCreateParamsStreaming } from '@anthropic-ai/sdk/resources/messages'
import { boundedFetch } from './bounded-fetch.ts'
import type { Endpoint } from './endpoint.ts'
import type { MessagesBody } from './messages-request.ts'
import { serialiseBody } from './serialise-body.ts'
import { translateSdkError, translateStream } from './sdk-error.ts'

/** An open client. Each call resolves when the response headers have arrived and then yields events. Failures are thrown as `ProviderFailure`. */
export type AnthropicConnection = {
  messages(body: MessagesBody, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

/** Connects through Anthropic's SDK. Only this function loads the SDK, and only when a model that needs it gets its first request. */
export async function connectAnthropic(endpoint: Endpoint): Promise<AnthropicConnection> {
  const sdk = await import('@anthropic-ai/sdk')
  const client = new sdk.Anthropic({
    baseURL: endpoint.baseUrl,
    // Without a key, the client would look for credentials itself. This value is never sent, because each request sets its own header.
    apiKey: 'none',
    defaultHeaders: { 'x-api-key': null, authorization: null },
    defaultQuery: { ...endpoint.query },
    fetch: boundedFetch(endpoint.heard),
    // This program retries requests itself, so that each retry is an event. The SDK's logger would write to stdout, which is reserved for the result.
    maxRetries: 0,
    logLevel: 'off',
    openTelemetry: false,
  })
  const translate = (error: unknown): Promise<unknown> => translateSdkError(error, sdk, endpoint)
  return {
    messages: async (body, signal) => {
      const headers = { ...(await endpoint.headers()), 'content-type': 'application/json' }
      // The type of `messages` is left out of the check, because the model's output is sent back unchanged, even if the SDK doesn't know its kind.
      const checked = body satisfies Omit<MessageCreateParamsStreaming, 'messages'>
      try {
        // `messages.create` isn't used, because it prints a warning about older models at every request.
        const asked = client.post<AsyncIterable<unknown>>('/v1/messages', {
          body: serialiseBody(checked, 'messages'),
          stream: true,
          signal,
          headers,
        })
        return translateStream(await asked, translate)
      } catch (error) {
        throw await translate(error)
      }
    },
  }
}
