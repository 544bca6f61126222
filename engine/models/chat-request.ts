import type { ModelRequest, ToolDeclaration } from '../core/model.ts'
import { inTemplateOrder } from './chat-order.ts'
import { asGeminiTakes, chatMessagesOf } from './chat-turns.ts'
import type { ChatMessage } from './chat-turns.ts'
import { commonSchema } from './common-schema.ts'
import { isOpenAIs } from './openai-models.ts'
import { isStrict } from './strict-schema.ts'
import { takeTurns } from './turns.ts'

/**
 * The body of `POST /chat/completions` (https://platform.openai.com/docs/api-reference/chat/create). Fields that compatible servers (Ollama, vLLM, llama.cpp,
 * LM Studio) don't understand are sent only for OpenAI's own models. Fields that aren't needed are left out.
 */
export type ChatBody = {
  model: string
  messages: ChatMessage[]
  tools?: { type: 'function'; function: { name: string; description: string; parameters: Record<string, unknown> } }[]
  stream: true
  stream_options?: { include_usage: true }
  temperature?: number
  top_p?: number
  /** The maximum number of tokens in the response. OpenAI's own models expect this field; compatible servers know the older one, `max_tokens`. */
  max_completion_tokens?: number
  max_tokens?: number
  reasoning_effort?: 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'
  verbosity?: 'low' | 'medium' | 'high'
  response_format?: {
    type: 'json_schema'
    json_schema: { name: string; schema: Record<string, unknown>; strict: boolean }
  }
}

/** Builds the body of the request. The same history gives the same bytes, so that a server's prefix cache can be used. */
export function buildChatBody(model: string, request: ModelRequest): ChatBody {
  const { instructions, turns } = takeTurns(request.instructions, request.history)
  const { outputSchema, reasoningEffort, verbosity, sampling: { temperature, topP, maxOutputTokens } = {} } = request
  return {
    model,
    messages: [
      ...(instructions.length === 0 ? [] : [{ role: 'system' as const, content: instructions.join('\n\n') }]),
      ...asGeminiTakes(
        model,
        inTemplateOrder(
          model,
          turns.flatMap((turn) => chatMessagesOf(turn, { model, tools: request.tools })),
        ),
      ),
    ],
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map((tool) => wireTool(tool, model)) }),
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
    // `verbosity` is sent only for OpenAI's own models: other servers don't know it, and the default that OpenAI's agent uses is meant only for
    // OpenAI's API.
    ...(verbosity === undefined || !isOpenAIs(model) ? {} : { verbosity }),
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

function wireTool(tool: ToolDeclaration, model: string): NonNullable<ChatBody['tools']>[number] {
  const { name, description, parameters } = tool
  return {
    type: 'function',
    function: { name, description, parameters: isOpenAIs(model) ? { ...parameters } : commonSchema(parameters) },
  }
}
