import { APIConnectionError, APIError, APIUserAbortError, OpenAI } from 'openai'
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions'
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses'
import { VERSION } from 'openai/version'
import type { ChatBody } from './chat-request.ts'
import { boundedFetch } from './bounded-fetch.ts'
import type { Endpoint } from './endpoint.ts'
import type { ResponsesBody } from './responses-request.ts'
import { serialiseBody } from './serialise-body.ts'
import { translateSdkError, translateStream } from './sdk-error.ts'

/**
 * An open client. Each method sends a request, resolves when the response headers have arrived, and then yields the events. Throws `ProviderFailure` if the
 * request fails.
 */
export type OpenAIConnection = {
  responses(body: ResponsesBody, signal: AbortSignal): Promise<AsyncIterable<unknown>>
  chat(body: ChatBody, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

/** Connects through OpenAI's SDK, which only this file uses. Import this file only when a model that needs the SDK gets its first request. */
export function connectOpenAI(endpoint: Endpoint): OpenAIConnection {
  const client = new OpenAI({
    baseURL: endpoint.baseUrl,
    // The client requires a key. This value is never sent, because each request sets its own header. The null values keep the client from using the
    // environment.
    apiKey: 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    // The user agent is set here because the client would send the name of its class, which the build shortens.
    defaultHeaders: { authorization: null, 'user-agent': `OpenAI/JS ${VERSION}` },
    defaultQuery: { ...endpoint.query },
    fetch: boundedFetch(endpoint.heard),
    // We retry ourselves, so that each retry is an event. The SDK's logger would write to stdout, which is reserved for the result.
    maxRetries: 0,
    logLevel: 'off',
  })
  const errors = { APIUserAbortError, APIConnectionError, APIError }
  const translate = (error: unknown): Promise<unknown> => translateSdkError(error, errors, endpoint)
  // We don't call `responses.create` and similar methods, because they inspect every value of the conversation while serialising it.
  const ask = async (path: string, json: string, signal: AbortSignal): Promise<AsyncIterable<unknown>> => {
    const headers = { ...(await endpoint.headers()), 'content-type': 'application/json' }
    try {
      const asked = client.post<AsyncIterable<unknown>>(path, { body: json, stream: true, signal, headers })
      return translateStream(await asked, translate)
    } catch (error) {
      throw await translate(error)
    }
  }
  return {
    responses: (body, signal) =>
      // The type of `input` is left out of the check, because the model's earlier output is sent back unchanged, even if the SDK doesn't know its kind.
      ask('/responses', serialiseBody(body satisfies Omit<ResponseCreateParamsStreaming, 'input'>, 'input'), signal),
    chat: (body, signal) =>
      ask('/chat/completions', serialiseBody(body satisfies ChatCompletionCreateParamsStreaming, 'messages'), signal),
  }
}
