import * as z from 'zod'
import type { Image, ToolDeclaration } from '../core/model.ts'
import { argumentsObject } from './as-function.ts'
import { fittingId, fittingName } from './call-ids.ts'
import { isThought, sealed, type Block } from './preserved-thinking.ts'
import { asReminder, translateOnce } from './turns.ts'
import type { ModelItem, Turn } from './turns.ts'

/** Marks the block up to which the provider writes the prompt cache. */
export type Cached = { cache_control?: { type: 'ephemeral' } }
/** A block of text. */
export type TextBlock = { type: 'text'; text: string } & Cached
type ImageBlock = { type: 'image'; source: { type: 'base64'; media_type: MediaType; data: string } } & Cached
type MediaType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
type ResultBlock = {
  type: 'tool_result'
  tool_use_id: string
  content: (TextBlock | ImageBlock)[]
  is_error: boolean
} & Cached
/** A block that we write ourselves. */
export type UserBlock = TextBlock | ImageBlock | ResultBlock
/** A message as it is sent. The model's blocks are sent back unchanged, whatever their kind. */
export type WireMessage = { role: 'user'; content: UserBlock[] } | { role: 'assistant'; content: Block[] }

/**
 * The contents of `opaque` for this API: blocks as they arrived, or `more`, the unknown fields of a block. `seal` identifies a thinking
 * block and everything before it. Older sessions contain a single `block` and don't name their model.
 */
const kept = z.object({
  from: z.literal('anthropic-messages'),
  model: z.string().optional(),
  seal: z.string().optional(),
  block: z.looseObject({ type: z.string() }).optional(),
  blocks: z.array(z.looseObject({ type: z.string() })).optional(),
  more: z.record(z.string(), z.unknown()).optional(),
})

/** The contents of `opaque` for this API, in the form in which they are written. */
export type KeptBlocks = z.input<typeof kept>

/** Translates turns into messages. Each turn is translated only once. */
export const messagesOf = translateOnce((turn: Turn, { model, tools }): readonly WireMessage[] => {
  if (turn.side === 'model') {
    const content = turn.said.flatMap((item) => blocksOf(item, model, tools))
    return content.length === 0 ? [] : [{ role: 'assistant', content }]
  }
  const results = turn.results.map(({ callId, output, ok, images = [] }): ResultBlock => {
    // The API refuses images in a result that is an error, so they are left out of such a result.
    const shown = [...textBlock(output), ...(ok ? images.map(imageBlock) : [])]
    return { type: 'tool_result', tool_use_id: fittingId(callId), content: shown, is_error: !ok }
  })
  const last = results.at(-1)
  // Text after the results is a known cause of empty answers, so this program's own messages are appended to the last result. The user's messages
  // stay separate.
  const spoken = turn.messages.findIndex(({ role }) => role === 'user')
  const beside = last === undefined ? 0 : spoken === -1 ? turn.messages.length : spoken
  for (const { text } of turn.messages.slice(0, beside)) last?.content.push(...textBlock(asReminder(text)))
  const content: UserBlock[] = [
    // Results must come before any other block that follows calls.
    ...results,
    ...turn.messages.slice(beside).flatMap(({ text, images = [] }) => [...images.map(imageBlock), ...textBlock(text)]),
  ]
  return content.length === 0 ? [] : [{ role: 'user', content }]
})

function blocksOf(item: ModelItem, model: string, tools: readonly ToolDeclaration[]): readonly Block[] {
  switch (item.type) {
    case 'message': {
      const own = keptOf(item.opaque)?.blocks?.filter(saysSomething) ?? []
      const text = own.map(({ text: part }) => (typeof part === 'string' ? part : '')).join('')
      // A hook may have replaced the text. In that case, the stored blocks are no longer what the model said, so only the new text is sent.
      return own.length > 0 && text === item.text ? own : textBlock(item.text)
    }
    case 'tool_call': {
      const { id, name } = item.call
      const { more = {} } = keptOf(item.opaque) ?? {}
      return [
        {
          type: 'tool_use',
          id: fittingId(id),
          name: fittingName(name, longestName),
          input: argumentsObject(item.call, tools),
          ...more,
        },
      ]
    }
    case 'reasoning':
    case 'web_search': {
      const own = keptOf(item.opaque)
      const { block, blocks = block === undefined ? [] : [block] } = own ?? {}
      // A model can't read the thoughts of a different model, so these are left out. Older sessions don't name their model, so their thoughts are kept.
      const isReadable = own?.model === undefined || own.model === model
      return blocks.filter((each) => isReadable || isSearch(each)).map((each) => sealed(each, own?.seal))
    }
    default:
      return item satisfies never
  }
}

/** The maximum length of a tool's name (https://platform.claude.com/docs/en/agents-and-tools/tool-use/define-tools). */
const longestName = 128

function keptOf(opaque: unknown): z.infer<typeof kept> | undefined {
  return opaque === undefined ? undefined : kept.safeParse(opaque).data
}

function isSearch({ type }: Block): boolean {
  return type === 'server_tool_use' || type === 'web_search_tool_result'
}

/** Whether a block has content. The API refuses text blocks without text, even those that it sent itself. */
export function saysSomething({ type, text }: Block): boolean {
  return type !== 'text' || (typeof text === 'string' && text.trim() !== '')
}

function textBlock(text: string): TextBlock[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }]
}

function imageBlock(image: Image): ImageBlock {
  return {
    type: 'image',
    source: { type: 'base64', media_type: image.mediaType as MediaType, data: image.data },
  }
}

/**
 * Removes what the API refuses in a finished turn: thinking at the end of a message, and calls to the provider's own tools that will never be
 * answered. Such a call can still be answered if it is in the last message (after a pause), or if its message also contains calls to our tools.
 */
export function withoutLooseEnds(messages: readonly WireMessage[]): readonly WireMessage[] {
  return messages.flatMap((message, at): WireMessage[] => {
    if (message.role === 'user' || at === messages.length - 1) return [message]
    const { content } = message
    const isCalling = content.some(({ type }) => type === 'tool_use')
    const isOpen = ({ type, id }: Block): boolean =>
      type === 'server_tool_use' && !isCalling && !content.some((other) => other['tool_use_id'] === id)
    const settled = content.filter((block) => !isOpen(block))
    const last = settled.findLastIndex((block) => !isThought(block))
    const kept = settled.slice(0, last + 1)
    if (kept.length === content.length) return [message]
    return kept.length === 0 ? [] : [{ role: 'assistant', content: kept }]
  })
}

/**
 * Whether the model may think in its next message: if a new turn begins, or if the model's last message in the current turn began with thinking.
 * Models that think within a budget refuse to start thinking in the middle of a turn that began without it, for example because another model began
 * the turn (https://platform.claude.com/docs/en/build-with-claude/extended-thinking#extended-thinking-with-tool-use).
 */
export function mayThink(messages: readonly WireMessage[]): boolean {
  const last = messages.at(-1)
  const answers = last?.role === 'user' && last.content.some(({ type }) => type === 'tool_result')
  const [first] = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
  return !answers || (first !== undefined && isThought(first))
}
