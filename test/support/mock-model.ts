import { refusedRequests } from './conformance/refused-requests.ts'
import { startSseServer } from './sse-server.ts'
import type { Answer, Delivery, Received } from './sse-server.ts'

/** One thing that the mock model says: what OpenAI's Responses API calls an item of the `output`. */
export type Output =
  | { readonly type: 'text'; readonly text: string; readonly phase?: string }
  | { readonly type: 'reasoning'; readonly summary: string; readonly encrypted: string }
  /**
   * A search of the web by the provider. Without `found`, the provider paused before the answer. With only `found`, this is what the provider sends
   * after the pause.
   */
  | { readonly type: 'search'; readonly query?: string; readonly found?: string }
  | { readonly type: 'function'; readonly name: string; readonly arguments: string; readonly id?: string }
  | { readonly type: 'freeform'; readonly name: string; readonly input: string; readonly id?: string }

/** Token counts, which a mock sends under the names of its wire format. Absent counts are 0. */
export type MockUsage = {
  readonly input?: number
  readonly cached?: number
  readonly cacheWrite?: number
  readonly output?: number
  readonly reasoning?: number
}

/** How a stream ends. Default: `completed`. */
export type Ending =
  | { readonly type: 'completed' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  | { readonly type: 'incomplete'; readonly reason: string }
  /** An `error` event in the stream. */
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The stream closes normally, but without the final event. */
  | { readonly type: 'missing' }

export type Reply =
  /** What the model says, in order: the common case. */
  | readonly Output[]
  | Spoken
  /** An HTTP answer without a stream. A string body is sent as it is, anything else as JSON. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }
  /** Raw SSE frames, for damage that can't be described in any other way. */
  | { readonly frames: readonly string[]; readonly delivery?: Delivery }
  /** The request is accepted, but never answered. */
  | 'silence'

/** A running mock of a provider. */
export type MockModel = {
  /** The value for `openai_base_url` or a similar setting. */
  readonly baseUrl: string
  readonly requests: readonly Received[]
  close(): Promise<void>
}

export const say = (text: string): Output => ({ type: 'text', text })

export const search = (query: string, found = 'https://example.com/'): Output => ({ type: 'search', query, found })

export const think = (summary: string, encrypted = 'gAAAA-opaque'): Output => ({
  type: 'reasoning',
  summary,
  encrypted,
})

/** A function call. Arguments that are a string are sent as they are, valid JSON or not. */
export const call = (name: string, args: object | string, id?: string): Output => ({
  type: 'function',
  name,
  arguments: typeof args === 'string' ? args : JSON.stringify(args),
  ...(id === undefined ? {} : { id }),
})

/** A call to a freeform (custom) tool such as `apply_patch`. */
export const freeform = (name: string, input: string, id?: string): Output => ({
  type: 'freeform',
  name,
  input,
  ...(id === undefined ? {} : { id }),
})

export type Replies = readonly Reply[] | ((request: Received, index: number) => Reply)

/** The parts of a mock that depend on the provider. */
type Dialect = {
  /** The path of the API. Requests for all other paths are answered with 404. */
  readonly path: string
  /** The path of the base URL. */
  readonly base: string
  /** Checks requests against the provider's documentation. `sent` records each response, because later checks need it. */
  readonly conformance: {
    complaint(request: Received): string | undefined
    sent(request: Received, frames: readonly string[]): void
  }
  /** Makes the body of an error with this message. */
  readonly errorBody: (message: string) => unknown
  /** The server-sent events of a reply, as they are sent to the client. */
  readonly frames: (reply: Spoken, index: number) => readonly string[]
}

/** A reply that contains output from the model, rather than an error. */
export type Spoken = {
  readonly say: readonly Output[]
  readonly usage?: MockUsage
  readonly end?: Ending
  readonly delivery?: Delivery
}

/**
 * Starts a mock of a provider. Replies are used in order, or computed from the request. Once they are used up, requests are answered with status 400.
 * If the provider would refuse a request, the test that sent it fails, whatever that test checks.
 */
export async function startMockModel(dialect: Dialect, replies: Replies): Promise<MockModel> {
  let index = 0
  const refuse = (status: number, message: string): Answer => ({
    kind: 'failure',
    status,
    body: dialect.errorBody(message),
  })
  const server = await startSseServer((request): Answer => {
    if (request.path.split('?')[0] !== dialect.path) return refuse(404, `mock: no such path: ${request.path}`)
    const complaint = dialect.conformance.complaint(request)
    if (complaint !== undefined) {
      refusedRequests.push(complaint)
      return refuse(400, complaint)
    }
    const at = index++
    const reply = typeof replies === 'function' ? replies(request, at) : replies[at]
    if (reply === undefined) return refuse(400, `mock: the ${at} replies of this mock are used up`)
    if (reply === 'silence') return { kind: 'silence' }
    if ('status' in reply) return { kind: 'failure', ...reply }
    const spoken = 'say' in reply ? reply : 'frames' in reply ? undefined : { say: reply }
    const frames = spoken === undefined ? (reply as { frames: readonly string[] }).frames : dialect.frames(spoken, at)
    dialect.conformance.sent(request, frames)
    return { kind: 'stream', frames, delivery: 'delivery' in reply ? reply.delivery : undefined }
  })
  return { baseUrl: `${server.url}${dialect.base}`, requests: server.requests, close: server.close }
}

/** One named server-sent event. */
export function frame(event: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

/** A text in pieces of a few characters, as in real streams. */
export function pieces(text: string): readonly string[] {
  return text.match(/[^]{1,12}/gu) ?? []
}
