import { OAuthError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { SseError } from '@modelcontextprotocol/sdk/client/sse.js'
import { StreamableHTTPError } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpError } from '@modelcontextprotocol/sdk/types.js'
import { describeOtherContent, firstWords } from '../core/text/other-content.ts'
import { proxyFault } from '../models/proxy-failure.ts'
import type { McpServer } from './server.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** The maximum number of bytes that are read of an answer that is not one of MCP. */
const mostOfOther = 64 * 1024

/**
 * A `fetch` for servers of MCP that explains answers of other kinds, such as the page of a gateway. Only the beginning of such an answer is read, because it
 * may be endless.
 */
export const fetchAnswer = async (input: string | URL, init?: RequestInit): Promise<Response> => {
  const answer = await fetch(input, init)
  const { ok, status, statusText, headers } = answer
  if (status >= 400) return new Response(firstWords(await startOf(answer)), { status, statusText, headers })
  const type = headers.get('content-type') ?? ''
  if (!ok || /\bjson\b|event-stream/i.test(type) || !asksSomething(init)) return answer
  throw new Error(`${describeOtherContent(await startOf(answer), type, answer.url)}. Check the URL and the proxy`)
}

/**
 * Whether the answer must contain events or a message: the request accepts events, and has no body or one that is a request itself. Notifications, and what is
 * posted to a server of the older kind, are answered with only a status, or with any text.
 */
function asksSomething({ method = 'GET', headers, body }: RequestInit = {}): boolean {
  if (!/event-stream/.test(new Headers(headers).get('accept') ?? '')) return false
  return method === 'GET' || (typeof body === 'string' && /"id":/.test(body) && /"method":/.test(body))
}

async function startOf({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  if (body !== null) {
    for await (const chunk of body) {
      chunks.push(chunk)
      size += chunk.length
      if (size >= mostOfOther) break
    }
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** How a server last refused a request: its status, and the scopes that it asked for. */
export type Refused = { readonly status: number; readonly scopes: string | undefined }

/**
 * What to say if a remote server doesn't accept the request's key, or its authorization server gives none; undefined for other errors.
 *
 * @param refused undefined: no tokens are obtained for this server
 */
export function refusedKey(
  error: unknown,
  { name, origin, transport }: McpServer,
  refused?: Refused,
): string | undefined {
  if (!('url' in transport) || !(error instanceof Error)) return undefined
  const { oauth } = transport
  const isAlone = oauth?.grant === 'client_credentials'
  const signIn = `run: agent mcp login ${name}`
  const again = isAlone ? `Check oauth in ${origin}` : `To sign in again, ${signIn}`
  if (error instanceof OAuthError) {
    const why = `${error.errorCode}${error.message === '' ? '' : `: ${error.message}`}`
    return `the authorization server of ${plain(transport.url)} gave no token (${why}). ${again}`
  }
  const code = 'code' in error ? error.code : undefined
  if (code !== 401 && code !== 403) return undefined
  const words = error instanceof StreamableHTTPError ? wordsOf(error) : ''
  const said = words === '' ? '' : ` ("${words}")`
  const answered = `${plain(transport.url)} answered ${refused?.status ?? code}`
  if (refused?.status === 403 && refused.scopes !== undefined) {
    const scopes = refused.scopes.split(' ').join(',')
    const remedy = isAlone ? `Name them in scopes in ${origin}` : `To get them, ${signIn} --scopes ${scopes}`
    return `${answered}: the token doesn't have the scopes ${refused.scopes}${said}. ${remedy}`
  }
  if (refused !== undefined) return `${answered}: it does not accept the token${said}. ${again}`
  const sends =
    'headers' in transport && Object.keys(transport.headers).some((header) => /auth|key|token/i.test(header))
  const why = sends ? 'it does not accept the key that it was sent' : 'it needs a key, and none was sent'
  return (
    `${answered}: ${why}${said}. ` +
    `Set bearer_token_env_var (the name of a variable with the token), env_http_headers or headers in ${origin}` +
    `${oauth === undefined ? '' : `. If people sign in there (OAuth), ${signIn}`}`
  )
}

/** A sentence about an error of the SDK. */
export function describeError(error: unknown, { transport }: McpServer, environment: Environment): string {
  const at = 'url' in transport ? plain(transport.url) : 'it'
  if (error instanceof McpError) return error.message.replace(/^MCP error -?\d+: /, '')
  if (error instanceof StreamableHTTPError) return `${at} answered ${error.code}: ${wordsOf(error)}`
  if (error instanceof SyntaxError) return `${at} sent something that is not JSON: ${error.message}`
  if (error instanceof Error && 'issues' in error) return `${at} sent JSON that is not a message of MCP`
  if (error instanceof SseError) return describeSseError(error, at)
  const { message, cause } = error as Error
  const why = cause instanceof Error ? cause.message : ''
  const proxy = 'url' in transport ? proxyFault(error as Error, transport.url, environment)?.words : undefined
  if (message === 'fetch failed' || proxy !== undefined) return `${at} can't be reached: ${proxy ?? why}`
  const words = message.includes(why) ? [message] : [message, why]
  // A WebSocket error contains no message.
  return words.join(': ') || "it can't be reached"
}

function describeSseError({ code = 200, message }: SseError, at: string): string {
  const words = message.replace(/^SSE error: (?:TypeError: )?/, '')
  if (code !== 200) return `${at} answered ${code}`
  return words === 'undefined' ? `${at} ended its stream before the first event` : `${at}: ${words}`
}

/** The words of an answer, without those that the SDK puts before them. */
function wordsOf({ message }: StreamableHTTPError): string {
  return message.replace(/^Streamable HTTP error: /, '').replace(/^Error POSTing to endpoint: /, '')
}

/** A URL without its query, which may contain a key. */
function plain(url: URL): string {
  return `${url.origin}${url.pathname}`
}
