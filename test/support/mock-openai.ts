import { startSseServer } from './sse-server.ts'
import type { Answer, Delivery, Received } from './sse-server.ts'

/** One thing the mock model says: an item of a Responses `output`. */
export type Output =
  | { readonly type: 'text'; readonly text: string; readonly phase?: string }
  | { readonly type: 'reasoning'; readonly summary: string; readonly encrypted: string }
  | { readonly type: 'function'; readonly name: string; readonly arguments: string; readonly id?: string }
  | { readonly type: 'freeform'; readonly name: string; readonly input: string; readonly id?: string }

/** Token counts as the wire names them; what is absent is 0. */
export type MockUsage = {
  readonly input?: number
  readonly cached?: number
  readonly cacheWrite?: number
  readonly output?: number
  readonly reasoning?: number
}

/** How a stream ends. `completed` unless said otherwise. */
export type Ending =
  | { readonly type: 'completed' }
  | { readonly type: 'failed'; readonly code: string; readonly message: string }
  | { readonly type: 'incomplete'; readonly reason: string }
  /** An `error` event in the stream. */
  | { readonly type: 'error'; readonly code: string; readonly message: string }
  /** The stream closes in good order without a last event. */
  | { readonly type: 'missing' }

export type Reply =
  /** What the model says, in order: the common case. */
  | readonly Output[]
  | {
      readonly say: readonly Output[]
      readonly usage?: MockUsage
      readonly end?: Ending
      readonly delivery?: Delivery
    }
  /** An HTTP answer without a stream. A string body is sent as it is, anything else as JSON. */
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body: unknown }
  /** SSE frames as given, for wire damage that no builder here makes. */
  | { readonly frames: readonly string[]; readonly delivery?: Delivery }
  /** The request is taken and never answered. */
  | 'silence'

export type MockOpenAI = {
  /** What goes into `openai_base_url`. */
  readonly baseUrl: string
  readonly requests: readonly Received[]
  close(): Promise<void>
}

export const say = (text: string): Output => ({ type: 'text', text })

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

/** A call of a freeform (custom) tool such as `apply_patch`. */
export const freeform = (name: string, input: string, id?: string): Output => ({
  type: 'freeform',
  name,
  input,
  ...(id === undefined ? {} : { id }),
})

/**
 * A loopback server that speaks OpenAI's Responses wire format as server-sent events
 * (https://platform.openai.com/docs/api-reference/responses-streaming).
 * Replies are used in order, or computed from the request. Like the real one it answers 400 to a tool call without
 * its output and to an output without its call; and 400 once its replies are used up.
 */
export async function startMockOpenAI(options: {
  readonly replies: readonly Reply[] | ((request: Received, index: number) => Reply)
}): Promise<MockOpenAI> {
  let index = 0
  const server = await startSseServer((request): Answer => {
    if (request.path.split('?')[0] !== '/v1/responses') return failure(404, `mock: no such path: ${request.path}`)
    const complaint = unpairedCall(request.body)
    if (complaint !== undefined) return failure(400, complaint)
    const at = index++
    const reply = typeof options.replies === 'function' ? options.replies(request, at) : options.replies[at]
    if (reply === undefined) return failure(400, `mock: the ${at} replies of this mock are used up`)
    return answerWith(reply, at)
  })
  return { baseUrl: `${server.url}/v1`, requests: server.requests, close: server.close }
}

function answerWith(reply: Reply, index: number): Answer {
  if (reply === 'silence') return { kind: 'silence' }
  if ('status' in reply) return { kind: 'failure', ...reply }
  if ('frames' in reply) return { kind: 'stream', ...reply }
  const full = 'say' in reply ? reply : { say: reply }
  return { kind: 'stream', frames: responseFrames(full, index), delivery: full.delivery }
}

function failure(status: number, message: string): Answer {
  return {
    kind: 'failure',
    status,
    body: { error: { message, type: 'invalid_request_error', param: null, code: null } },
  }
}

/** One server-sent event; `sequence_number` is added by the caller who knows it. */
export function frame(event: { readonly type: string } & Readonly<Record<string, unknown>>): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
}

function responseFrames(
  reply: { readonly say: readonly Output[]; readonly usage?: MockUsage; readonly end?: Ending },
  index: number,
): readonly string[] {
  const id = `resp_${index}`
  const response = { id, object: 'response', created_at: 1_750_000_000, model: 'mock', output: [], error: null }
  const items = reply.say.map((output, at) => itemEvents(output, at, `${index}_${at}`))
  const usage = {
    input_tokens: reply.usage?.input ?? 0,
    input_tokens_details: { cached_tokens: reply.usage?.cached ?? 0, cache_write_tokens: reply.usage?.cacheWrite ?? 0 },
    output_tokens: reply.usage?.output ?? 0,
    output_tokens_details: { reasoning_tokens: reply.usage?.reasoning ?? 0 },
    total_tokens: (reply.usage?.input ?? 0) + (reply.usage?.output ?? 0),
  }
  const events = [
    { type: 'response.created', response: { ...response, status: 'in_progress' } },
    { type: 'response.in_progress', response: { ...response, status: 'in_progress' } },
    ...items.flatMap(({ events }) => events),
    ...endEvents(reply.end ?? { type: 'completed' }, { ...response, output: items.map(({ item }) => item), usage }),
  ]
  return events.map((event, at) => frame({ ...event, sequence_number: at }))
}

type WireEvent = { readonly type: string } & Readonly<Record<string, unknown>>

function endEvents(end: Ending, response: Readonly<Record<string, unknown>>): readonly WireEvent[] {
  switch (end.type) {
    case 'completed':
      return [{ type: 'response.completed', response: { ...response, status: 'completed' } }]
    case 'failed': {
      const error = { code: end.code, message: end.message }
      return [{ type: 'response.failed', response: { ...response, status: 'failed', error } }]
    }
    case 'incomplete': {
      const details = { reason: end.reason }
      return [
        { type: 'response.incomplete', response: { ...response, status: 'incomplete', incomplete_details: details } },
      ]
    }
    case 'error':
      return [{ type: 'error', code: end.code, message: end.message, param: null }]
    case 'missing':
      return []
    default:
      return end satisfies never
  }
}

/** The finished item and the events that lead to it: added, deltas, done. */
function itemEvents(output: Output, at: number, key: string): { item: object; events: readonly WireEvent[] } {
  const place = { output_index: at, item_id: `item_${key}` }
  const wrap = (start: object, item: object, between: readonly WireEvent[]) => ({
    item,
    events: [
      { type: 'response.output_item.added', output_index: at, item: start },
      ...between,
      { type: 'response.output_item.done', output_index: at, item },
    ],
  })
  switch (output.type) {
    case 'text': {
      const base = { type: 'message', id: place.item_id, role: 'assistant' }
      const item = {
        ...base,
        status: 'completed',
        content: [part(output.text)],
        ...(output.phase === undefined ? {} : { phase: output.phase }),
      }
      const where = { ...place, content_index: 0 }
      return wrap({ ...base, status: 'in_progress', content: [] }, item, [
        { type: 'response.content_part.added', ...where, part: part('') },
        ...deltas('response.output_text.delta', where, output.text),
        { type: 'response.output_text.done', ...where, text: output.text },
        { type: 'response.content_part.done', ...where, part: part(output.text) },
      ])
    }
    case 'reasoning': {
      const base = { type: 'reasoning', id: place.item_id }
      const summary = output.summary === '' ? [] : [{ type: 'summary_text', text: output.summary }]
      const where = { ...place, summary_index: 0 }
      return wrap({ ...base, summary: [] }, { ...base, summary, encrypted_content: output.encrypted }, [
        ...deltas('response.reasoning_summary_text.delta', where, output.summary),
      ])
    }
    case 'function': {
      const base = { type: 'function_call', id: place.item_id, call_id: output.id ?? `call_${key}`, name: output.name }
      const item = { ...base, status: 'completed', arguments: output.arguments }
      return wrap({ ...base, status: 'in_progress', arguments: '' }, item, [
        ...deltas('response.function_call_arguments.delta', place, output.arguments),
        { type: 'response.function_call_arguments.done', ...place, arguments: output.arguments },
      ])
    }
    case 'freeform': {
      const base = {
        type: 'custom_tool_call',
        id: place.item_id,
        call_id: output.id ?? `call_${key}`,
        name: output.name,
      }
      return wrap({ ...base, input: '' }, { ...base, status: 'completed', input: output.input }, [
        ...deltas('response.custom_tool_call_input.delta', place, output.input),
        { type: 'response.custom_tool_call_input.done', ...place, input: output.input },
      ])
    }
    default:
      return output satisfies never
  }
}

function part(text: string): object {
  return { type: 'output_text', text, annotations: [], logprobs: [] }
}

/** Deltas of a few characters each, as a real stream has them. */
function deltas(type: string, place: object, text: string): readonly WireEvent[] {
  const pieces = text.match(/[^]{1,12}/gu) ?? []
  return pieces.map((delta) => ({ type, ...place, delta }))
}

/** What the real API says to a history in which calls and outputs don't pair up; undefined where they do. */
function unpairedCall(body: unknown): string | undefined {
  const input = (body as { input?: unknown } | undefined)?.input
  if (!Array.isArray(input)) return "mock: 'input' must be an array"
  const items = input as readonly { type?: string; call_id?: string }[]
  for (const kind of ['function_call', 'custom_tool_call']) {
    const calls = idsOf(items, kind)
    const outputs = idsOf(items, `${kind}_output`)
    const open = calls.find((id) => !outputs.includes(id))
    if (open !== undefined) return `No tool output found for ${kind.replaceAll('_', ' ')} ${open}.`
    const stray = outputs.find((id) => !calls.includes(id))
    if (stray !== undefined) return `No tool call found for ${kind.replaceAll('_', ' ')} output with call_id ${stray}.`
  }
  return undefined
}

function idsOf(items: readonly { type?: string; call_id?: string }[], type: string): readonly string[] {
  return items.filter((item) => item.type === type).map((item) => item.call_id ?? '')
}
