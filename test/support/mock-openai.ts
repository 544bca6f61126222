import { ResponsesConformance } from './conformance/responses.ts'
import { frame, pieces, startMockModel } from './mock-model.ts'
import type { Ending, MockModel, Output, Replies, Spoken } from './mock-model.ts'

export { call, frame, freeform, say, think } from './mock-model.ts'
export type { MockModel as MockOpenAI, Reply } from './mock-model.ts'

/**
 * A loopback server that speaks OpenAI's Responses wire format as server-sent events
 * (https://platform.openai.com/docs/api-reference/responses-streaming). Like the real server, it answers 400 to what `ResponsesConformance` refuses.
 *
 * @param options `ids` makes the ids of the mock's calls different from those of another mock, for a session that continues with a second mock
 */
export function startMockOpenAI(options: { readonly replies: Replies; readonly ids?: string }): Promise<MockModel> {
  const errorBody = (message: string): unknown => ({
    error: { message, type: 'invalid_request_error', param: null, code: null },
  })
  const conformance = new ResponsesConformance()
  const { ids } = options
  const frames = (reply: Spoken, index: number) => responseFrames(reply, ids === undefined ? index : `${ids}_${index}`)
  const dialect = { path: '/v1/responses', base: '/v1', conformance, errorBody, frames }
  return startMockModel(dialect, options.replies)
}

/** The server-sent events of a response, as they are sent to the client. */
export function responseFrames(reply: Spoken, index: number | string): readonly string[] {
  const id = `resp_${index}`
  const response = { id, object: 'response', created_at: 1_750_000_000, model: 'mock', output: [], error: null }
  const items = reply.say.map((output, at) => {
    const isCut = reply.end?.type === 'incomplete' && at === reply.say.length - 1
    return itemEvents(output, at, `${index}_${at}`, isCut ? 'incomplete' : 'completed')
  })
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
function itemEvents(
  output: Output,
  at: number,
  key: string,
  status: 'completed' | 'incomplete',
): { item: object; events: readonly WireEvent[] } {
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
        status,
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
    case 'search': {
      const base = { type: 'web_search_call', id: `ws_${key}` }
      const action = {
        type: 'search',
        query: output.query,
        queries: [output.query],
        sources: [{ type: 'url', url: output.found }],
      }
      return wrap({ ...base, status: 'in_progress' }, { ...base, status: 'completed', action }, [
        { type: 'response.web_search_call.in_progress', ...place },
        { type: 'response.web_search_call.searching', ...place },
        { type: 'response.web_search_call.completed', ...place },
      ])
    }
    case 'function': {
      const base = { type: 'function_call', id: place.item_id, call_id: output.id ?? `call_${key}`, name: output.name }
      const item = { ...base, status, arguments: output.arguments }
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
      return wrap({ ...base, input: '' }, { ...base, status, input: output.input }, [
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

function deltas(type: string, place: object, text: string): readonly WireEvent[] {
  return pieces(text).map((delta) => ({ type, ...place, delta }))
}
