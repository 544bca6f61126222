import * as z from 'zod'
import type { ModelEvent, Usage, WebSearchAction } from '../model.ts'
import { expectShape } from './expect-shape.ts'
import { judgeRefusal, unfinished } from './failure.ts'
import type { ProviderFailure } from './failure.ts'
import { opaqueReasoning, opaqueSearch } from './responses-request.ts'
import { readSearch } from './web-search.ts'

const delta = z.object({ delta: z.string() })
const itemDone = z.object({ item: z.looseObject({ type: z.string() }) })

const message = z.object({
  phase: z.string().nullish(),
  content: z.array(
    z.union([
      z.object({ type: z.literal('output_text'), text: z.string() }),
      z.object({ type: z.literal('refusal'), refusal: z.string() }),
    ]),
  ),
})
const functionCall = z.object({ call_id: z.string().min(1), name: z.string().min(1), arguments: z.string() })
const customCall = z.object({ call_id: z.string().min(1), name: z.string().min(1), input: z.string() })
const reasoning = z.object({ summary: z.array(z.object({ text: z.string() })) })

const usage = z
  .object({
    input_tokens: z.number(),
    input_tokens_details: z
      .object({ cached_tokens: z.number().default(0), cache_write_tokens: z.number().default(0) })
      .nullish(),
    output_tokens: z.number(),
    output_tokens_details: z.object({ reasoning_tokens: z.number().default(0) }).nullish(),
  })
  .nullish()
const completed = z.object({ response: z.object({ usage }) })
const failed = z.object({
  response: z.object({ error: z.object({ code: z.string().nullish(), message: z.string() }).nullish() }),
})
const incomplete = z.object({
  response: z.object({ incomplete_details: z.object({ reason: z.string().nullish() }).nullish(), usage }),
})
const failure = z.object({ code: z.string().nullish(), message: z.string() })

/**
 * Reads the events of one streamed response (https://platform.openai.com/docs/api-reference/responses-streaming).
 * Finished items count, deltas only show. Throws `ProviderFailure` for a failed, incomplete or malformed response;
 * ends without `end` where the stream was cut.
 */
export async function* readResponses(stream: AsyncIterable<unknown>): AsyncGenerator<ModelEvent> {
  let searches = 0
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
        const event = readItem(expectShape(type, itemDone, raw).item)
        if (event?.type === 'web_search') searches += billed(event.action)
        if (event !== undefined) yield event
        break
      }
      case 'response.completed':
        yield { type: 'end', usage: read(expectShape(type, completed, raw).response.usage) }
        return
      case 'response.failed': {
        const error = expectShape(type, failed, raw).response.error
        throw judge(error?.code, error?.message ?? 'the provider gave no reason')
      }
      case 'response.incomplete': {
        const { incomplete_details: details, usage: counted } = expectShape(type, incomplete, raw).response
        const reason = details?.reason ?? 'no reason given'
        throw unfinished(reason === 'content_filter' ? 'filtered' : 'incomplete', reason, read(counted))
      }
      case 'error': {
        const { code, message: words } = expectShape(type, failure, raw)
        throw judge(code, words)
      }
      default:
        // The API grows new event types; one that isn't needed for a decision is no reason to fail.
        break
    }
  }
}

/** The event for a finished item; undefined for kinds that ask nothing of us. */
function readItem(item: { readonly type: string }): ModelEvent | undefined {
  switch (item.type) {
    case 'message': {
      const { content, phase } = expectShape('a message', message, item)
      const text = content.map((part) => ('text' in part ? part.text : part.refusal)).join('')
      return { type: 'message', text, ...(phase === null || phase === undefined ? {} : { phase }) }
    }
    case 'reasoning': {
      const { summary } = expectShape('a reasoning item', reasoning, item)
      const own = opaqueReasoning.safeParse({ from: 'openai-responses', item })
      const text = summary.map((part) => part.text).join('\n\n')
      return { type: 'reasoning', text, ...(own.success ? { opaque: own.data } : {}) }
    }
    case 'web_search_call': {
      const { action } = item as { readonly action?: unknown }
      const own = opaqueSearch.safeParse({ from: 'openai-responses', item })
      return { type: 'web_search', ...readSearch(action), ...(own.success ? { opaque: own.data } : {}) }
    }
    case 'function_call': {
      const { call_id: id, name, arguments: input } = expectShape('a function call', functionCall, item)
      return { type: 'tool_call', call: { id, name, kind: 'function', input } }
    }
    case 'custom_tool_call': {
      const { call_id: id, name, input } = expectShape('a custom tool call', customCall, item)
      return { type: 'tool_call', call: { id, name, kind: 'freeform', input } }
    }
    default:
      return undefined
  }
}

/** A search of several questions is billed as several; looking at a page is not billed by itself. */
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
