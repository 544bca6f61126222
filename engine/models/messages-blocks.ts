import * as z from 'zod'
import type { ModelEvent } from '../core/model.ts'
import { argumentsObject, isWholeObject } from './as-function.ts'
import { malformedStream } from './failure.ts'
import type { KeptBlocks } from './messages-turns.ts'
import { saysSomething } from './messages-turns.ts'
import { after, isThought, type Block, type Prefix } from './preserved-thinking.ts'
import { readSearch } from './read-search.ts'

/** The event that starts a content block. */
export const blockStart = z.object({
  index: z.number(),
  content_block: z.looseObject({
    type: z.string(),
    id: z.string().optional(),
    name: z.string().optional(),
    text: z.string().optional(),
    thinking: z.string().optional(),
    signature: z.string().optional(),
  }),
})
/** The part of a content block that has arrived so far. `json` collects the input of a call. */
export type OpenBlock = z.infer<typeof blockStart>['content_block'] & { json: string }

/**
 * Produces the events for one message's blocks, in order. All fields are kept, including unknown ones, so that the message can be sent back
 * exactly as it arrived.
 */
export class SaidBlocks {
  readonly #model: string
  #prefix: Prefix | undefined
  /** The text blocks of the current message. An answer with sources has one block for each cited passage, but is still a single message. */
  #texts: Block[] = []
  /** A query that the model sent to the provider's search, until its result arrives. The query and its result become one event. */
  #asked: Block | undefined
  /** The last call, held back. Whether it is complete is known only when the next block arrives or the message ends. */
  #call: Extract<ModelEvent, { type: 'tool_call' }> | undefined

  constructor(model: string, prefix: Prefix | undefined) {
    this.#model = model
    this.#prefix = prefix
  }

  /**
   * Takes the next finished block. Yields its event if the event is complete, after the events of earlier blocks that were held back until this block arrived.
   */
  *take(open: OpenBlock): Generator<ModelEvent> {
    const { json, ...start } = open
    const block: Block = json === '' ? start : { ...start, input: inputOf(start, json) }
    if (this.#prefix !== undefined) this.#prefix = after(this.#prefix, 'assistant', block)
    yield* this.#called(false)
    if (block.type === 'text') {
      yield* this.#ask()
      if (saysSomething(block)) this.#texts.push(block)
      return
    }
    yield* this.#speak()
    const asked = this.#asked
    const isAnswer = block.type === 'web_search_tool_result'
    if (isAnswer && asked !== undefined && asked['id'] === block['tool_use_id']) {
      this.#asked = undefined
      yield searchEvent([asked, block], this.#model)
      return
    }
    yield* this.#ask()
    if (block.type === 'server_tool_use' && block['name'] === 'web_search') this.#asked = block
    else if (isAnswer) yield searchEvent([block], this.#model)
    else if (block.type === 'tool_use') this.#call = callEvent(block, json, this.#model)
    else yield this.#unread(block)
  }

  /**
   * Yields the events that are still pending at the end of the message.
   *
   * @param isCut whether the message reached its length limit. If so, a call at its end may be incomplete
   */
  *rest(isCut: boolean): Generator<ModelEvent> {
    yield* this.#called(isCut)
    yield* this.#ask()
    yield* this.#speak()
  }

  *#called(isCut: boolean): Generator<ModelEvent> {
    const event = this.#call
    this.#call = undefined
    if (event === undefined) return
    const { call } = event
    yield isCut && !isWholeObject(call.input) ? { ...event, call: { ...call, cut: true } } : event
  }

  *#ask(): Generator<ModelEvent> {
    const asked = this.#asked
    this.#asked = undefined
    if (asked !== undefined) yield searchEvent([asked], this.#model)
  }

  *#speak(): Generator<ModelEvent> {
    const texts = this.#texts
    this.#texts = []
    if (texts.length === 0) return
    const text = texts.map((block) => String(block['text'])).join('')
    const isPlain =
      texts.length === 1 && texts.every((block) => Object.keys(more(block, ['type', 'text'])).length === 0)
    const opaque = { from: 'anthropic-messages', model: this.#model, blocks: [...texts] } satisfies KeptBlocks
    yield { type: 'message', text, ...(isPlain ? {} : { opaque }) }
  }

  /** Creates the event for a thinking block, or for another kind of block that only the provider can read. */
  #unread(block: Block): ModelEvent {
    const { thinking } = block
    const seal = this.#prefix !== undefined && isThought(block) ? { seal: this.#prefix } : {}
    const text = typeof thinking === 'string' ? thinking : ''
    // The API refuses a thinking block that was cut off before its signature, so such a block is never sent back, and only its text is kept.
    if (block.type === 'thinking' && !block['signature']) return { type: 'reasoning', text }
    const opaque = { from: 'anthropic-messages', model: this.#model, ...seal, blocks: [block] } satisfies KeptBlocks
    return { type: 'reasoning', text, opaque }
  }
}

function callEvent(block: Block, json: string, model: string): Extract<ModelEvent, { type: 'tool_call' }> {
  const { id, name, input } = block
  if (typeof id !== 'string' || typeof name !== 'string' || id === '' || name === '')
    throw malformedStream('a tool call without an id or a name')
  const text = json === '' ? JSON.stringify(input ?? {}) : json
  const beside = more(block, ['type', 'id', 'name', 'input'])
  const opaque = { from: 'anthropic-messages', model, more: beside } satisfies KeptBlocks
  return {
    type: 'tool_call',
    call: { id, name, kind: 'function', input: text },
    ...(Object.keys(beside).length === 0 ? {} : { opaque }),
  }
}

function searchEvent(blocks: Block[], model: string): ModelEvent {
  const { query } = (blocks.find(({ type }) => type === 'server_tool_use')?.['input'] ?? {}) as { query?: unknown }
  const action = typeof query === 'string' ? { type: 'search', query } : { type: 'other' }
  const opaque = { from: 'anthropic-messages', model, blocks } satisfies KeptBlocks
  return { type: 'web_search', ...readSearch(action), opaque }
}

/**
 * Parses the input of a call, which is sent back as an object. If it is invalid JSON, the text becomes part of an object; but for a tool that the
 * provider runs, the stream counts as malformed.
 */
function inputOf({ type }: Pick<Block, 'type'>, json: string): unknown {
  if (type === 'tool_use') return argumentsObject({ id: '', name: '', kind: 'function', input: json }, [])
  try {
    return JSON.parse(json)
  } catch {
    throw malformedStream('a search whose input is not JSON')
  }
}

/** Returns the unknown fields of a block. Null fields count as absent. */
function more(block: Block, known: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(block).filter(([name, value]) => !known.includes(name) && value !== null))
}
