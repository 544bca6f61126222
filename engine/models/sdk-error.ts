import { judgeConnection } from './connection-failure.ts'
import type { Endpoint } from './endpoint.ts'
import { cutStream, judgeRefusal, malformedStream, ProviderFailure } from './failure.ts'

type ErrorClass = abstract new (...args: never) => Error

/** The error classes that the SDKs of OpenAI and Anthropic both export under the same names. */
type SdkErrors = {
  readonly APIUserAbortError: ErrorClass
  readonly APIConnectionError: ErrorClass
  readonly APIError: ErrorClass
}

/**
 * Translates an error that a vendor's SDK has thrown into a `ProviderFailure`. Errors of unknown kinds are returned unchanged. The SDK's own error is
 * not kept, because it contains the request's headers, and with them the key.
 */
export async function translateSdkError(
  error: unknown,
  sdk: SdkErrors,
  { baseUrl, env }: Pick<Endpoint, 'baseUrl' | 'env'>,
): Promise<unknown> {
  if (error instanceof ProviderFailure) return error
  if (error instanceof sdk.APIUserAbortError) return cutStream('aborted')
  if (error instanceof sdk.APIConnectionError) return judgeConnection(error, { url: baseUrl, env })
  if (error instanceof sdk.APIError) return judgeRefusal(refusalOf(error), Date.now())
  if (error instanceof SyntaxError) return malformedStream(error.message)
  // `fetch` throws a `TypeError` if the connection breaks while the response body is read.
  if (error instanceof TypeError) return cutStream(innermost(error))
  return error
}

/** Yields the events of an SDK's stream, and translates its errors. */
export async function* translateStream(
  stream: AsyncIterable<unknown>,
  translate: (error: unknown) => Promise<unknown>,
): AsyncGenerator<unknown> {
  try {
    yield* stream
  } catch (error) {
    throw await translate(error)
  }
}

function refusalOf(error: Error): Parameters<typeof judgeRefusal>[0] {
  const { status, headers, code, type, param, error: body } = error as Error & Partial<Record<string, unknown>>
  const named = [code, type].find((name) => typeof name === 'string' && name !== '')
  return {
    status: typeof status === 'number' ? status : undefined,
    code: typeof named === 'string' ? named : undefined,
    param: typeof param === 'string' ? param : undefined,
    words: words(body) ?? error.message.replace(/^\d{3} /, ''),
    header: (name) => (isHeaders(headers) ? headers.get(name) : null),
  }
}

/** Whether a value is a set of headers. It need not be an instance of the global `Headers` class. */
function isHeaders(value: unknown): value is Pick<Headers, 'get'> {
  return typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function'
}

/** Returns the message in an error body: `{error: {message}}` or `{message}`. */
function words(body: unknown): string | undefined {
  if (typeof body !== 'object' || body === null) return undefined
  if ('error' in body) return words(body.error)
  return 'message' in body && typeof body.message === 'string' ? body.message : undefined
}

/** Returns the message of the deepest cause, because `fetch failed` by itself explains nothing. */
function innermost(error: Error): string {
  let current = error
  while (current.cause instanceof Error) current = current.cause
  return current.message === '' ? current.name : current.message
}
