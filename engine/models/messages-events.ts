import { isDeepStrictEqual } from 'node:util'
import * as z from 'zod'
import type { Usage } from '../core/model.ts'
import { expectShape, tokenCount } from './expect-shape.ts'
import { malformedStream, ProviderFailure, unfinished } from './failure.ts'
import { blockStart, SaidBlocks, type OpenBlock } from './messages-blocks.ts'
import type { Prefix } from './preserved-thinking.ts'
import type { WireEvent } from './wire.ts'

const count = tokenCount.nullish()
const usage = z.object({
  input_tokens: count,
  cache_creation_input_tokens: count,
  cache_read_input_tokens: count,
  output_tokens: count,
  output_tokens_details: z.object({ thinking_tokens: count }).nullish().catch(null),
  server_tool_use: z.object({ web_search_requests: count }).nullish().catch(null),
})
type Counted = z.infer<typeof usage>

const messageStart = z.object({ message: z.object({ usage: usage.nullish().catch(null) }) })
const blockDelta = z.object({
  index: z.number(),
  delta: z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    partial_json: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
    citation: z.unknown().optional(),
  }),
})
const blockStop = z.object({ index: z.number() })
const messageDelta = z.object({
  delta: z.object({ stop_reason: z.string().nullish() }),
  usage: usage.nullish().catch(null),
})

/**
 * Reads the events of one streamed message (https://platform.claude.com/docs/en/build-with-claude/streaming). Apart from pieces of text for display,
 * the events of a block are emitted only after the block is complete. Thinking blocks keep their signatures, so that they can be sent back. Throws
 * `ProviderFailure` for a malformed, refused or broken message, and for one that fills the context window; the failure says what the message has cost so
 * far. Ends without an `end` event if the stream was interrupted.
 *
 * @param model the model that answers, as the request names it
 * @param prefix the digest of what the request contains; undefined if the provider doesn't check thinking against it
 */
export async function* readMessages(
  stream: AsyncIterable<unknown>,
  model: string,
  prefix: Prefix | undefined,
): AsyncGenerator<WireEvent> {
  const counted: Counted = {}
  try {
    yield* readMessage(stream, new SaidBlocks(model, prefix), counted)
  } catch (error) {
    throw error instanceof ProviderFailure ? error.after(readUsage(counted)) : error
  }
}

/** @param counted receives the counts of the message as they arrive */
async function* readMessage(
  stream: AsyncIterable<unknown>,
  said: SaidBlocks,
  counted: Counted,
): AsyncGenerator<WireEvent> {
  const blocks = new Map<number, OpenBlock>()
  const finished = new Map<number, OpenBlock>()
  let stopReason: string | undefined
  for await (const raw of stream) {
    const { type } = expectShape('an event', z.object({ type: z.string() }), raw)
    switch (type) {
      case 'message_start':
        Object.assign(counted, known(expectShape(type, messageStart, raw).message.usage))
        break
      case 'content_block_start': {
        const { index, content_block: block } = expectShape(type, blockStart, raw)
        blocks.set(index, { ...block, json: '' })
        break
      }
      case 'content_block_delta': {
        const { index, delta } = expectShape(type, blockDelta, raw)
        extend(openBlock(blocks, index), delta)
        if (delta.type === 'text_delta') yield { type: 'text_delta', text: delta.text ?? '' }
        break
      }
      case 'content_block_stop': {
        const { index } = expectShape(type, blockStop, raw)
        const block = openBlock(blocks, index)
        // Some proxies deliver a block, or its end, twice.
        if (!isDeepStrictEqual(block, finished.get(index))) yield* said.take(block)
        finished.set(index, { ...block })
        break
      }
      case 'message_delta': {
        const { delta, usage: last } = expectShape(type, messageDelta, raw)
        stopReason = delta.stop_reason ?? stopReason
        Object.assign(counted, known(last))
        break
      }
      case 'message_stop':
        refuseUnfinished(stopReason, readUsage(counted))
        // Some proxies leave out the ends of blocks.
        for (const [index, block] of blocks) if (!finished.has(index)) yield* said.take(block)
        yield* said.rest(stopReason === 'max_tokens')
        yield {
          type: 'end',
          usage: readUsage(counted),
          ...(stopReason === 'pause_turn' ? { paused: true } : {}),
          ...(stopReason === 'max_tokens' ? { limit: stopReason } : {}),
        }
        return
      default:
        // According to its documentation, the API may add event types. Unknown ones are ignored.
        break
    }
  }
}

/** Whether an event has the reason for which the model stopped. */
export function hasStopped(raw: unknown): boolean {
  return typeof messageDelta.safeParse(raw).data?.delta.stop_reason === 'string'
}

function openBlock(blocks: ReadonlyMap<number, OpenBlock>, index: number): OpenBlock {
  const block = blocks.get(index)
  if (block === undefined) throw malformedStream(`a content block that never started: ${index}`)
  return block
}

function extend(block: OpenBlock, delta: z.infer<typeof blockDelta>['delta']): void {
  switch (delta.type) {
    case 'text_delta':
      block.text = `${block.text ?? ''}${delta.text ?? ''}`
      break
    case 'input_json_delta':
      block.json += delta.partial_json ?? ''
      break
    case 'thinking_delta':
      block.thinking = `${block.thinking ?? ''}${delta.thinking ?? ''}`
      break
    case 'signature_delta':
      block.signature = `${block.signature ?? ''}${delta.signature ?? ''}`
      break
    case 'citations_delta':
      block['citations'] = [
        ...(Array.isArray(block['citations']) ? (block['citations'] as unknown[]) : []),
        delta.citation,
      ]
      break
    default:
      // According to its documentation, the API may add delta types. Unknown ones are ignored.
      break
  }
}

function refuseUnfinished(stopReason: string | undefined, spent: Usage): void {
  switch (stopReason) {
    case 'refusal':
      throw unfinished('filtered', stopReason, spent)
    case 'model_context_window_exceeded':
      throw unfinished('context-overflow', stopReason, spent)
    default:
      return
  }
}

/** Returns the fields that have a value. The counts of later events are merged over earlier ones, and an absent count must not replace a known one. */
function known(counts: Counted | null | undefined): Counted {
  return Object.fromEntries(Object.entries(counts ?? {}).filter(([, value]) => value !== null && value !== undefined))
}

/** Converts Anthropic's token counts to ours. Anthropic counts cache reads and writes separately; in our counts, they are part of the input. */
function readUsage(counted: Counted): Usage {
  const cached = counted.cache_read_input_tokens ?? 0
  const written = counted.cache_creation_input_tokens ?? 0
  const searches = counted.server_tool_use?.web_search_requests ?? 0
  return {
    inputTokens: (counted.input_tokens ?? 0) + cached + written,
    cachedInputTokens: cached,
    cacheWriteInputTokens: written,
    outputTokens: counted.output_tokens ?? 0,
    reasoningOutputTokens: counted.output_tokens_details?.thinking_tokens ?? 0,
    ...(searches > 0 ? { webSearches: searches } : {}),
  }
}
