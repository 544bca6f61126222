import * as z from 'zod'
import type { Image, ModelRequest, ToolCall, ToolDeclaration } from '../model.ts'
import { argumentsObject } from './as-function.ts'
import { isOpenAIs } from './openai-models.ts'
import { isStrict } from './strict-schema.ts'
import { takeTurns, translateOnce } from './turns.ts'
import type { Turn } from './turns.ts'

/**
 * The body of `POST /chat/completions` (https://platform.openai.com/docs/api-reference/chat/create), as far as servers
 * that imitate it understand it too: Ollama, vLLM, llama.cpp, LM Studio. What is not needed is not sent.
 */
export type ChatBody = {
  model: string
  messages: ChatMessage[]
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[]
  stream: true
  stream_options: { include_usage: true }
  temperature?: number
  top_p?: number
  /** What OpenAI's own models want it called; servers that imitate the API know the older name. */
  max_completion_tokens?: number
  max_tokens?: number
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'
  response_format?: {
    type: 'json_schema'
    json_schema: { name: string; schema: Record<string, unknown>; strict: boolean }
  }
}

type ChatMessage =
  | { role: 'system'; content: string }
  | { role: 'user'; content: string | Part[] }
  | ({ role: 'assistant'; content: string | null; tool_calls?: WireCall[] } & Partial<Record<ReasoningField, string>>)
  | { role: 'tool'; tool_call_id: string; content: string }

type Part = { type: 'text'; text: string } | { type: 'image_url'; image_url: { url: string } }

type WireCall = { id: string; type: 'function'; function: { name: string; arguments: string } }

/** Where servers put a model's reasoning. The API's own definition has no place for it. */
const reasoningField = z.enum(['reasoning_content', 'reasoning'])
export type ReasoningField = z.infer<typeof reasoningField>

/** What `HistoryItem.opaque` holds here: models that think between calls want to read their thoughts again. */
const opaqueChatReasoning = z.object({ from: z.literal('openai-chat'), field: reasoningField })

/** Builds the request. The same history gives the same bytes, so that a server's prefix cache hits. */
export function buildChatBody(model: string, request: ModelRequest): ChatBody {
  const { instructions, turns } = takeTurns(request.instructions, request.history)
  const { outputSchema, reasoningEffort, sampling: { temperature, topP, maxOutputTokens } = {} } = request
  return {
    model,
    messages: [
      ...(instructions === '' ? [] : [{ role: 'system' as const, content: instructions }]),
      ...turns.flatMap((turn) => translated(turn, request.tools)),
    ],
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(wireTool) }),
    stream: true,
    stream_options: { include_usage: true },
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined
      ? {}
      : { [isOpenAIs(model) ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens }),
    ...(reasoningEffort === undefined
      ? {}
      : { reasoning_effort: reasoningEffort as NonNullable<ChatBody['reasoning_effort']> }),
    ...(outputSchema === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema' as const,
            json_schema: {
              name: outputSchema.name,
              schema: { ...outputSchema.schema },
              strict: isStrict(outputSchema.schema),
            },
          },
        }),
  }
}

function wireTool(tool: ToolDeclaration): NonNullable<ChatBody['tools']>[number] {
  const { name, description, parameters } = tool
  return { type: 'function', function: { name, description, parameters: { ...parameters } } }
}

const translated = translateOnce(messagesOf)

function messagesOf(turn: Turn, tools: readonly ToolDeclaration[]): readonly ChatMessage[] {
  switch (turn.side) {
    case 'model': {
      const text = turn.texts.join('\n\n')
      const thoughts: Partial<Record<ReasoningField, string>> = {}
      for (const item of turn.unread) {
        const own = opaqueChatReasoning.safeParse(item.opaque)
        if (own.success && item.type === 'reasoning')
          thoughts[own.data.field] = `${thoughts[own.data.field] ?? ''}${item.text}`
      }
      const calls = turn.calls.map((call) => wireCall(call, tools))
      if (text === '' && calls.length === 0) return []
      return [
        {
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
        tool_call_id: result.callId,
        content: result.output,
      }))
      // A tool's message holds text only, so its pictures follow as the user's.
      const shown = turn.results.flatMap((result) => result.images ?? [])
      const messages = turn.messages.map((message) => userMessage(message.text, message.images ?? []))
      return [...results, ...(shown.length === 0 ? [] : [userMessage('', shown)]), ...messages]
    }
    default:
      return turn satisfies never
  }
}

function userMessage(text: string, images: readonly Image[]): ChatMessage {
  if (images.length === 0) return { role: 'user', content: text }
  const parts = images.map((image): Part => {
    return { type: 'image_url', image_url: { url: `data:${image.mediaType};base64,${image.data}` } }
  })
  return { role: 'user', content: text === '' ? parts : [{ type: 'text', text }, ...parts] }
}

function wireCall(call: ToolCall, tools: readonly ToolDeclaration[]): WireCall {
  const object = argumentsObject(call, tools)
  // What the model wrote goes back byte for byte where it can; servers' templates parse it and fail on anything else.
  const same = call.kind === 'function' && !('malformed_arguments' in object)
  const text = same ? call.input : JSON.stringify(object)
  return { id: call.id, type: 'function', function: { name: call.name, arguments: text } }
}
