import { isMistral } from './family.ts'
import { isOpenAIs } from './openai-models.ts'
import type { ChatMessage } from './chat-turns.ts'

/** An assistant message that is inserted between a tool's result and a user message, for Mistral's models. */
const understood: ChatMessage = { role: 'assistant', content: 'Understood.' }

/**
 * Puts the messages in an order that the chat templates of open models accept. Consecutive user messages are joined, because templates
 * require the speakers to alternate (https://github.com/ggml-org/llama.cpp/blob/master/models/templates/google-gemma-2-2b-it.jinja). With
 * Mistral's models no user message may follow a tool result
 * (https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py). Messages for OpenAI's own
 * models stay as they are.
 */
export function inTemplateOrder(model: string, messages: readonly ChatMessage[]): readonly ChatMessage[] {
  if (isOpenAIs(model)) return messages
  const ordered: ChatMessage[] = []
  for (const message of messages) {
    const last = ordered.at(-1)
    if (message.role === 'user' && last?.role === 'user') ordered.splice(-1, 1, joined(last, message))
    else if (message.role === 'user' && last?.role === 'tool' && isMistral(model)) ordered.push(understood, message)
    else ordered.push(message)
  }
  return ordered
}

type UserMessage = Extract<ChatMessage, { role: 'user' }>

/** A cache of joined messages: joining the same two messages again returns the same object, so that it is serialized only once. */
const known = new WeakMap<UserMessage, { readonly next: UserMessage; readonly both: UserMessage }>()

function joined(one: UserMessage, next: UserMessage): UserMessage {
  const before = known.get(one)
  if (before?.next === next) return before.both
  const both = { role: 'user', content: joinedContent(one.content, next.content) } as const
  known.set(one, { next, both })
  return both
}

function joinedContent(one: UserMessage['content'], next: UserMessage['content']): UserMessage['content'] {
  if (typeof one === 'string' && typeof next === 'string') return `${one}\n\n${next}`
  return [...partsOf(one), ...partsOf(next)]
}

function partsOf(content: UserMessage['content']): Exclude<UserMessage['content'], string> {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}
