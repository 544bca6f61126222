import { cutStream, judgeRefusal, malformedStream, ProviderFailure } from './failure.ts'
import type { ResponsesBody } from './responses-request.ts'

/** Where to connect to, and as whom. */
type OpenAISettings = {
  readonly baseUrl: string
  /** Undefined: requests carry no `Authorization`. */
  readonly apiKey: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly organization: string | undefined
  readonly project: string | undefined
}

/** An open client. Each call resolves when the headers are in and then yields events; failures are `ProviderFailure`. */
export type OpenAIConnection = {
  responses(body: ResponsesBody, signal: AbortSignal): Promise<AsyncIterable<unknown>>
}

/** The one door to OpenAI's SDK: loaded here and only when a model of that kind is opened. */
export async function connectOpenAI(settings: OpenAISettings): Promise<OpenAIConnection> {
  const sdk = await import('openai')
  const client = new sdk.OpenAI({
    baseURL: settings.baseUrl,
    // The client refuses to exist without a key; where there is none the header is removed below.
    apiKey: settings.apiKey ?? 'none',
    adminAPIKey: null,
    organization: settings.organization ?? null,
    project: settings.project ?? null,
    defaultHeaders: { ...settings.headers, ...(settings.apiKey === undefined ? { authorization: null } : {}) },
    defaultQuery: { ...settings.query },
    // Retries are ours, so that each is an event; its logger would write to a stdout that belongs to the result.
    maxRetries: 0,
    logLevel: 'off',
  })

  /** What went wrong, in our terms. Nothing of the SDK's error is kept: it holds headers, and with them the key. */
  const translate = (error: unknown): unknown => {
    if (error instanceof ProviderFailure) return error
    if (error instanceof sdk.APIUserAbortError) return cutStream('aborted')
    if (error instanceof sdk.APIConnectionError) {
      return new ProviderFailure(
        'connection',
        `can't be reached at ${withoutQuery(settings.baseUrl)}: ${innermost(error)}`,
        {
          retryable: true,
        },
      )
    }
    if (error instanceof sdk.APIError) {
      const { status, headers } = error as { status?: number; headers?: Headers }
      const words = error.message.replace(new RegExp(`^${status ?? ''} `), '')
      const code = [error.code, error.type].find((name) => typeof name === 'string' && name !== '') ?? undefined
      const header = (name: string): string | null => headers?.get(name) ?? null
      return judgeRefusal({ status, code, words, header }, Date.now())
    }
    if (error instanceof SyntaxError) return malformedStream(error.message)
    if (error instanceof TypeError) return cutStream(innermost(error))
    return error
  }

  async function* translated(stream: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    try {
      yield* stream
    } catch (error) {
      throw translate(error)
    }
  }

  return {
    responses: (body, signal) =>
      client.responses.create(body, { signal }).then(translated, (error: unknown) => Promise.reject(translate(error))),
  }
}

/** A URL for a message: its query may hold a key. */
function withoutQuery(url: string): string {
  return url.split('?')[0] ?? url
}

/** The message of the deepest cause: `fetch failed` alone helps nobody. */
function innermost(error: Error): string {
  let current = error
  while (current.cause instanceof Error) current = current.cause
  return current.message === '' ? current.name : current.message
}
