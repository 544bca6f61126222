import * as z from 'zod'
import type { HistoryItem, Image } from '../core/model.ts'
import { fittingId, fittingName } from './call-ids.ts'
import { longestName } from './openai-models.ts'

type InputText = { type: 'input_text'; text: string }
type InputImage = { type: 'input_image'; image_url: string; detail: 'auto' }
type OutputText = { type: 'output_text'; text: string }

/** An item of the conversation, as it appears in a request. */
export type InputItem =
  | { type: 'message'; role: 'user' | 'developer'; content: (InputText | InputImage)[] }
  | { type: 'message'; role: 'assistant'; content: OutputText[]; phase?: 'commentary' | 'final_answer' }
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | (InputText | InputImage)[] }
  | { type: 'custom_tool_call'; call_id: string; name: string; input: string }
  | { type: 'custom_tool_call_output'; call_id: string; output: string | (InputText | InputImage)[] }
  | OutputItem

/** An item that the model sent, as it arrived. */
export type OutputItem = { readonly type: string } & Readonly<Record<string, unknown>>

/**
 * The contents of `opaque` for this API: either `item`, a whole item as it arrived, or `more`, the unknown fields of a message or call. Sessions
 * written by older versions don't contain `model`.
 */
const kept = z.object({
  from: z.literal('openai-responses'),
  model: z.string().optional(),
  item: z.looseObject({ type: z.string() }).optional(),
  more: z.record(z.string(), z.unknown()).optional(),
})

/** The contents of `opaque` for this API, in the form in which they are written. */
export type KeptItem = z.input<typeof kept>

/** The maximum length of a call id in a request (https://github.com/openai/codex/issues/14355). The ids that the API itself creates may be longer. */
const longestId = 64

/** The translations of history items. An item never changes and is part of every later request, so it isn't translated again for the same model. */
const translated = new WeakMap<HistoryItem, { readonly model: string; readonly items: readonly InputItem[] }>()

/** Translates a history into the items of a request to a model. */
export function inputItems(history: readonly HistoryItem[], model: string): InputItem[] {
  const freeform = new Set<string>()
  return history.flatMap((item, at) => {
    // The API refuses reasoning that no other item from the model follows, so such reasoning is left out.
    if (item.type === 'reasoning' && !leadsOn(history, at)) return []
    if (item.type === 'tool_call' && item.call.kind === 'freeform') freeform.add(item.call.id)
    const before = translated.get(item)
    if (before?.model === model) return before.items
    const items = inputItemsOf(item, model, freeform)
    translated.set(item, { model, items })
    return items
  })
}

/** Whether a message, a call or a web search by the model follows the reasoning at this position, with nothing but reasoning in between. */
function leadsOn(history: readonly HistoryItem[], at: number): boolean {
  let next = history[at + 1]
  for (let index = at + 1; next?.type === 'reasoning'; index++) next = history[index + 1]
  return next !== undefined && next.type !== 'tool_result' && (next.type !== 'message' || next.role === 'assistant')
}

/**
 * Converts an item of the conversation to items of a request's input.
 *
 * @param freeform the ids of earlier freeform calls: a result's type depends on whether it answers one of them
 */
function inputItemsOf(item: HistoryItem, model: string, freeform: ReadonlySet<string>): readonly InputItem[] {
  switch (item.type) {
    case 'message':
      return [messageItem(item)]
    case 'reasoning':
    case 'web_search': {
      // Reasoning from another provider or another model is useless to this model, so it is left out.
      const own = keptOf(item.opaque)
      return own?.item === undefined || (own.model ?? model) !== model ? [] : [own.item]
    }
    case 'tool_call': {
      const { id, name, input, kind } = item.call
      const own = keptOf(item.opaque)
      const { more = {} } = (own?.model ?? model) === model ? (own ?? {}) : {}
      const called = { call_id: fittingId(id, longestId), name: fittingName(name, longestName) }
      return kind === 'function'
        ? [{ type: 'function_call', ...called, arguments: input, ...more }]
        : [{ type: 'custom_tool_call', ...called, input, ...more }]
    }
    case 'tool_result': {
      const type = freeform.has(item.callId) ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id: fittingId(item.callId, longestId), output: withImages(item.output, item.images ?? []) }]
    }
    default:
      return item satisfies never
  }
}

function keptOf(opaque: unknown): z.infer<typeof kept> | undefined {
  return opaque === undefined ? undefined : kept.safeParse(opaque).data
}

function messageItem(item: Extract<HistoryItem, { type: 'message' }>): InputItem {
  if (item.role !== 'assistant') {
    return { type: 'message', role: item.role, content: partsOf(item.text, item.images ?? []) }
  }
  const own = keptOf(item.opaque)?.item
  // A hook may have replaced the text. In that case, the stored item is no longer what the model said, so only the new text is sent.
  if (own !== undefined && textOf(own) === item.text) return own
  const phase = messagePhase.safeParse(item.phase)
  const content: OutputText[] = [{ type: 'output_text', text: item.text }]
  return { type: 'message', role: 'assistant', content, ...(phase.success ? { phase: phase.data } : {}) }
}

const messagePhase = z.enum(['commentary', 'final_answer'])

const spoken = z.object({
  content: z.array(z.looseObject({ text: z.string().optional(), refusal: z.string().optional() })),
})

/** Returns the text of an item from the model; undefined if the item, unlike a message, has no list of contents. */
export function textOf(item: OutputItem): string | undefined {
  return spoken
    .safeParse(item)
    .data?.content.map(({ text, refusal }) => text ?? refusal ?? '')
    .join('')
}

function withImages(text: string, images: readonly Image[]): string | (InputText | InputImage)[] {
  return images.length === 0 ? text : partsOf(text, images)
}

/** The contents of a message: always a list, because gateways that read requests look for the text in a list, which is what Codex sends. */
function partsOf(text: string, images: readonly Image[]): (InputText | InputImage)[] {
  const pictures = images.map((image): InputImage => {
    return { type: 'input_image', image_url: `data:${image.mediaType};base64,${image.data}`, detail: 'auto' }
  })
  return text === '' && images.length > 0 ? pictures : [{ type: 'input_text', text }, ...pictures]
}
