import * as z from 'zod'
import type { Image, ToolCall, ToolDeclaration } from '../core/model.ts'
import { argumentsObject } from './as-function.ts'
import { fittingId, fittingName, mistralId } from './call-ids.ts'
import { isMistral } from './family.ts'
import { isOpenAIs, longestName } from './openai-models.ts'
import { asReminder, translateOnce } from './turns.ts'
import type { Turn } from './turns.ts'

/** A message as it is sent. A message from the model includes the additional fields that it arrived with. */
export type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | Part[] }
  | ({ role: 'assistant'; content: string | null; tool_calls?: WireCall[] } & Partial<Record<ReasoningField, string>>)
  | { role: 'tool'; tool_call_id: string; content: string }

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

type WireCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

/** The fields in which servers put a model's reasoning. The API itself defines no field for reasoning. */
const reasoningField = z.enum(['reasoning_content', 'reasoning'])
export type ReasoningField = z.infer<typeof reasoningField>

/**
 * What is stored in `opaque` for this API:
 * - `model`: the model that produced the item. Older sessions lack it.
 * - `field`: the field in which a thought arrived. It is sent back in the same field, because models that think between calls need to read their thoughts
 *   again.
 * - `more`: fields of a message or a call that are not part of the API's definition, such as OpenRouter's `reasoning_details`, or Gemini's `extra_content`,
 *   without which Gemini refuses the call.
 */
const kept = z.object({
  from: z.literal('openai-chat'),
  model: z.string().optional(),
  field: reasoningField.optional(),
  more: z.record(z.string(), z.unknown()).optional(),
})

/** What this program writes into `opaque` for this API. */
export type KeptChat = z.input<typeof kept>

/** Translates turns into messages. Each turn is translated only once. */
export const chatMessagesOf = translateOnce((turn: Turn, { model, tools }): readonly ChatMessage[] => {
  const ownOf = (opaque: unknown): z.infer<typeof kept> | undefined => {
    const own = kept.safeParse(opaque).data
    // A model's thoughts and signatures are useless to a different model, and Gemini refuses them.
    return own === undefined || (own.model ?? model) !== model ? undefined : own
  }
  switch (turn.side) {
    case 'model': {
      const texts: string[] = []
      const calls: WireCall[] = []
      const thoughts: Partial<Record<ReasoningField, string>> = {}
      const more: Record<string, unknown> = {}
      for (const item of turn.said) {
        const own = 'opaque' in item ? ownOf(item.opaque) : undefined
        if (item.type === 'tool_call') {
          calls.push({ ...wireCall(item.call, tools, model), ...own?.more })
          continue
        }
        Object.assign(more, own?.more)
        if (item.type === 'message') texts.push(item.text)
        if (item.type === 'reasoning' && own?.field !== undefined)
          thoughts[own.field] = `${thoughts[own.field] ?? ''}${item.text}`
      }
      const text = texts.join('\n\n')
      if (text === '' && calls.length === 0) return []
      return [
        {
          ...more,
          role: 'assistant',
          content: text === '' ? null : text,
          ...thoughts,
          ...(calls.length === 0 ? {} : { tool_calls: calls }),
        },
      ]
    }
    case 'us': {
      const results = turn.results.map((result): ChatMessage => ({
        role: 'tool',
        tool_call_id: idFor(model, result.callId),
        content: result.output,
      }))
      const last = results.at(-1)
      const ours = turn.messages.findIndex(({ role }) => role === 'user')
      // Mistral's models accept no user message after a tool result, so this program's own messages are appended to the text of the last result, as
      // far as they come before the user's first message.
      const beside = last === undefined || !isMistral(model) ? 0 : ours === -1 ? turn.messages.length : ours
      if (last?.role === 'tool')
        for (const { text } of turn.messages.slice(0, beside)) last.content += `\n\n${asReminder(text)}`
      // A tool's message can contain only text, so its images follow in a user message.
      const shown = turn.results.flatMap((result) => result.images ?? [])
      const messages = turn.messages.slice(beside).map((message) => userMessage(message.text, message.images ?? []))
      return [...results, ...(shown.length === 0 ? [] : [userMessage('', shown)]), ...messages]
    }
    default:
      return turn satisfies never
  }
})

function userMessage(text: string, images: readonly Image[]): ChatMessage {
  if (images.length === 0) return { role: 'user', content: text }
  const parts = images.map((image): Part => {
    return { type: 'image_url', image_url: { url: `data:${image.mediaType};base64,${image.data}` } }
  })
  return { role: 'user', content: text === '' ? parts : [{ type: 'text', text }, ...parts] }
}

/**
 * The maximum length of a call id for OpenAI's own models (https://github.com/pydantic/pydantic-ai/issues/4389). Other servers accept the ids that they
 * created.
 */
const longestId = 40

function idFor(model: string, id: string): string {
  if (isMistral(model)) return mistralId(id)
  return isOpenAIs(model) ? fittingId(id, longestId) : id
}

function wireCall(call: ToolCall, tools: readonly ToolDeclaration[], model: string): WireCall {
  const object = argumentsObject(call, tools)
  // Arguments that are a JSON object are sent back byte for byte. Anything else is wrapped in one, because chat templates parse the arguments.
  const same = call.kind === 'function' && !('malformed_arguments' in object)
  const text = same ? call.input : JSON.stringify(object)
  const name = fittingName(call.name, longestName)
  return { id: idFor(model, call.id), type: 'function', function: { name, arguments: text } }
}

/** A value that Google's servers accept as the signature of another model's call. */
const unsigned = { google: { thought_signature: 'skip_thought_signature_validator' } }

/**
 * Adapts the messages to Gemini. From version 3 on, Gemini refuses a request unless the first call of each step of the current turn has a signature
 * (https://ai.google.dev/gemini-api/docs/thought-signatures). Calls by other models have none, so the first call of each message gets a
 * substitute that Gemini accepts.
 */
export function asGeminiTakes(model: string, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (!/gemini-(?:[3-9]|\d{2})/.test(model)) return messages
  return messages.map((message) => {
    if (message.role !== 'assistant' || message.tool_calls === undefined) return message
    const [first, ...rest] = message.tool_calls
    if (first === undefined || 'extra_content' in first || 'reasoning_details' in message) return message
    return { ...message, tool_calls: [{ ...first, extra_content: unsigned }, ...rest] }
  })
}
