import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { ModelEvent, Usage, WebSearchAction } from '../core/model.ts'
import { expectShape, tokenCount } from './expect-shape.ts'
import { judgeRefusal, unfinished } from './failure.ts'
import type { ProviderFailure } from './failure.ts'
import { textOf, type KeptItem, type OutputItem } from './responses-items.ts'
import { readSearch } from './read-search.ts'
import type { WireEvent } from './wire.ts'

const delta = z.object({ delta: z.string() })
const itemDone = z.object({
  output_index: z.number().nullish(),
  item: z.looseObject({ type: z.string(), id: z.string().nullish() }),
})

const message = z.looseObject({
  phase: z.string().nullish(),
  content: z.array(
    z.union([
      z.looseObject({ type: z.literal('output_text'), text: z.string(), annotations: z.array(z.unknown()).nullish() }),
      z.looseObject({ type: z.literal('refusal'), refusal: z.string() }),
    ]),
  ),
})
const functionCall = z.object({ call_id: z.string().min(1), name: z.string().min(1), arguments: z.string() })
const customCall = z.object({ call_id: z.string().min(1), name: z.string().min(1), input: z.string() })
const reasoning = z.object({ summary: z.array(z.object({ text: z.string() })).nullish() })

const outputItem = z.looseObject({ type: z.string() })

const usage = z
  .object({
    input_tokens: tokenCount,
    input_tokens_details: z.object({ cached_tokens: tokenCount, cache_write_tokens: tokenCount }).nullish().catch(null),
    output_tokens: tokenCount,
    output_tokens_details: z.object({ reasoning_tokens: tokenCount }).nullish().catch(null),
  })
  .nullish()
  .catch(null)
const completed = z.object({ response: z.object({ usage, output: z.array(outputItem).nullish() }) })
const failed = z.object({
  response: z.object({ usage, error: z.object({ code: z.string().nullish(), message: z.string() }).nullish() }),
})
const incomplete = z.object({
  response: z.object({
    incomplete_details: z.object({ reason: z.string().nullish() }).nullish(),
    usage,
    output: z.array(outputItem).nullish(),
  }),
})
const failure = z.object({ code: z.string().nullish(), message: z.string() })

/**
 * Reads the events of one streamed response (https://platform.openai.com/docs/api-reference/responses-streaming). Only finished items are used;
 * deltas are for display. Throws `ProviderFailure` for a failed, filtered or malformed response. Ends without an `end` event if the stream was
 * interrupted.
 *
 * @param model the model's name in the request
 */
export async function* readResponses(stream: AsyncIterable<unknown>, model: string): AsyncGenerator<WireEvent> {
  const finished: z.infer<typeof itemDone>[] = []
  let searches = 0
  let came = 0
  function* take(item: OutputItem): Generator<ModelEvent> {
    came++
    const event = readItem(item, model)
    if (event.type === 'web_search') searches += billed(event.action)
    yield event
  }
  const read = (counted: z.infer<typeof usage>): Usage => {
    return { ...readUsage(counted), ...(searches === 0 ? {} : { webSearches: searches }) }
  }
  for await (const raw of stream) {
    const { type } = expectShape('an event', z.object({ type: z.string() }), raw)
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        yield { type: 'text_delta', text: expectShape(type, delta, raw).delta }
        break
      case 'response.output_item.done': {
        const done = expectShape(type, itemDone, raw)
        // Some proxies deliver an item twice. Only an item that says which one it is can be recognized.
        const isKnown = [done.output_index, done.item.id].some((name) => name !== null && name !== undefined)
        if (isKnown && finished.some((before) => isDeepStrictEqual(before, done))) break
        finished.push(done)
        yield* take(done.item)
        break
      }
      case 'response.completed': {
        const { usage: counted, output } = expectShape(type, completed, raw).response
        // Compatible servers may send the model's text only in this event.
        if (came === 0) for (const item of output ?? []) yield* take(item)
        yield { type: 'end', usage: read(counted) }
        return
      }
      case 'response.failed': {
        const { error, usage: counted } = expectShape(type, failed, raw).response
        throw judge(error?.code, error?.message ?? 'the provider gave no reason').after(read(counted))
      }
      case 'response.incomplete': {
        const { incomplete_details: details, usage: counted, output } = expectShape(type, incomplete, raw).response
        const reason = details?.reason ?? 'no reason given'
        if (reason === 'content_filter') throw unfinished('filtered', reason, read(counted))
        // The item that was cut off has no event of its own, so it is taken from the response's list of all items.
        for (const item of (output ?? []).slice(came)) yield* take(item)
        yield { type: 'end', usage: read(counted), limit: reason }
        return
      }
      case 'error': {
        const { code, message: words } = expectShape(type, failure, raw)
        throw judge(code, words)
      }
      default:
        // The API may add event types. An unknown event is ignored, because no decision depends on it.
        break
    }
  }
}

/** Converts a finished item to an event. Unknown items are stored and sent back as they arrived. */
function readItem(item: OutputItem, model: string): ModelEvent {
  const from = { from: 'openai-responses', model } as const
  const cut = item['status'] === 'incomplete' ? { cut: true as const } : {}
  const whole = { opaque: { ...from, item: sentBack(item) } satisfies KeptItem }
  const rest = (known: readonly string[]): { opaque?: KeptItem } => {
    const more = beside(item, known)
    return Object.keys(more).length === 0 ? {} : { opaque: { ...from, more } }
  }
  switch (item.type) {
    case 'message': {
      const { content, phase } = expectShape('a message', message, item)
      const isPlain =
        content.length <= 1 &&
        content.every((part) => part.type === 'output_text' && (part.annotations ?? []).length === 0) &&
        Object.keys(beside(item, [...known.message, 'phase'])).length === 0
      const { id: _, status: __, ...own } = sentBack(item)
      return {
        type: 'message',
        text: textOf(item) ?? '',
        ...(phase === null || phase === undefined ? {} : { phase }),
        ...(isPlain ? {} : { opaque: { ...from, item: { ...own, type: item.type } } satisfies KeptItem }),
      }
    }
    case 'reasoning': {
      const { summary } = expectShape('a reasoning item', reasoning, item)
      const text = (summary ?? []).map((part) => part.text).join('\n\n')
      // With `store: false` the server doesn't know items by their id, so only an item that includes its own content is worth sending back.
      return { type: 'reasoning', text, ...(isSealed(item) && item['status'] !== 'incomplete' ? whole : {}) }
    }
    case 'web_search_call':
      return { type: 'web_search', ...readSearch(item['action']), ...whole }
    case 'function_call': {
      const { call_id: id, name, arguments: input } = expectShape('a function call', functionCall, item)
      return {
        type: 'tool_call',
        call: { id, name, kind: 'function', input, ...cut },
        ...rest([...known.call, 'arguments']),
      }
    }
    case 'custom_tool_call': {
      const { call_id: id, name, input } = expectShape('a custom tool call', customCall, item)
      return {
        type: 'tool_call',
        call: { id, name, kind: 'freeform', input, ...cut },
        ...rest([...known.call, 'input']),
      }
    }
    default:
      return { type: 'reasoning', text: '', ...whole }
  }
}

/**
 * The fields that every message has, and those that every call has. A call's unknown fields are stored in `more`; a message with unknown fields is
 * stored as an item. `id` counts as known although it is never sent back: only a server that stores responses knows the id, and that server refuses
 * an item with an id if the reasoning before it is missing.
 */
const known = {
  message: ['type', 'id', 'status', 'role', 'content'],
  call: ['type', 'id', 'status', 'call_id', 'name'],
}

function isSealed({ encrypted_content: content }: OutputItem): boolean {
  return typeof content === 'string' && content !== ''
}

/** Removes null fields: they count as absent, and the API doesn't accept all of them in a request. */
function sentBack(item: OutputItem): OutputItem {
  return { ...beside(item, []), type: item.type }
}

function beside(item: OutputItem, fields: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).filter(([name, value]) => !fields.includes(name) && value !== null))
}

/** Returns how many searches an action is billed as. Each query counts as a search; opening a page is not billed separately. */
function billed(action: WebSearchAction): number {
  return action.type === 'search' ? Math.max(1, action.queries?.length ?? 1) : 0
}

function readUsage(counted: z.infer<typeof usage>): Usage {
  return {
    inputTokens: counted?.input_tokens ?? 0,
    cachedInputTokens: counted?.input_tokens_details?.cached_tokens ?? 0,
    cacheWriteInputTokens: counted?.input_tokens_details?.cache_write_tokens ?? 0,
    outputTokens: counted?.output_tokens ?? 0,
    reasoningOutputTokens: counted?.output_tokens_details?.reasoning_tokens ?? 0,
  }
}

function judge(code: string | null | undefined, words: string): ProviderFailure {
  return judgeRefusal({ code: code ?? undefined, words }, Date.now())
}
