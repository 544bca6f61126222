import * as z from 'zod'
import type { HistoryItem, Image, ModelRequest, ToolDeclaration } from '../model.ts'
import { reasons, takesFreeform } from './openai-models.ts'
import { isStrict } from './strict-schema.ts'

/** The body of `POST /responses` (https://platform.openai.com/docs/api-reference/responses/create), as far as used. */
export type ResponsesBody = {
  model: string
  instructions: string
  input: InputItem[]
  tools: WireTool[]
  tool_choice: 'auto'
  parallel_tool_calls: true
  store: false
  stream: true
  include: 'reasoning.encrypted_content'[]
  prompt_cache_key: string
  reasoning?: { effort: Effort }
  temperature?: number
  top_p?: number
  max_output_tokens?: number
  text?: { format: { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict: boolean } }
}

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

type InputText = { type: 'input_text'; text: string }
type InputImage = { type: 'input_image'; image_url: string; detail: 'auto' }

type InputItem =
  | { type: 'message'; role: 'user' | 'developer'; content: string | (InputText | InputImage)[] }
  | { type: 'message'; role: 'assistant'; content: string; phase?: 'commentary' | 'final_answer' }
  | ReasoningItem
  | SearchItem
  | { type: 'function_call'; call_id: string; name: string; arguments: string }
  | { type: 'function_call_output'; call_id: string; output: string | (InputText | InputImage)[] }
  | { type: 'custom_tool_call'; call_id: string; name: string; input: string }
  | { type: 'custom_tool_call_output'; call_id: string; output: string | (InputText | InputImage)[] }

type SearchItem = {
  type: 'web_search_call'
  id: string
  status: 'completed' | 'failed' | 'incomplete'
  action: { type: 'search'; query?: string; queries?: string[] } | { type: 'open_page'; url?: string | null }
}

type ReasoningItem = z.infer<typeof opaqueReasoning>['item']

type WireTool =
  | { type: 'function'; name: string; description: string; parameters: Record<string, unknown>; strict: false }
  | {
      type: 'custom'
      name: string
      description: string
      format: { type: 'grammar'; syntax: 'lark'; definition: string }
    }
  | { type: 'web_search'; external_web_access: boolean; filters?: { allowed_domains: string[] } }

/**
 * What `HistoryItem.opaque` holds for a reasoning item of this API. With `store: false` the server knows no item by its
 * id: only one that brings its own content is worth sending back.
 */
export const opaqueReasoning = z.object({
  from: z.literal('openai-responses'),
  item: z.object({
    type: z.literal('reasoning'),
    id: z.string(),
    summary: z.array(z.object({ type: z.literal('summary_text'), text: z.string() })),
    encrypted_content: z.string().min(1),
  }),
})

/** What `HistoryItem.opaque` holds for a search of this API: all that came, since the server keeps nothing. */
export const opaqueSearch = z.object({
  from: z.literal('openai-responses'),
  item: z.custom<SearchItem>((item) => searchItem.safeParse(item).success),
})

const searchItem = z.looseObject({
  type: z.literal('web_search_call'),
  id: z.string(),
  status: z.string(),
  action: z.looseObject({ type: z.string() }),
})

/** Builds the request. The same history gives the same bytes, so that the provider's prefix cache hits. */
export function buildResponsesBody(model: string, request: ModelRequest): ResponsesBody {
  const { outputSchema, reasoningEffort, sampling: { temperature, topP, maxOutputTokens } = {} } = request
  return {
    model,
    instructions: request.instructions,
    input: inputItems(request.history),
    tools: [...request.tools.map((tool) => wireTool(tool, takesFreeform(model))), ...searchTool(request)],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    store: false,
    stream: true,
    // Models that don't reason refuse to be asked for what they can't give.
    include: reasons(model) ? ['reasoning.encrypted_content'] : [],
    prompt_cache_key: request.threadId,
    ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort as Effort } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(outputSchema === undefined ? {} : { text: { format: schemaFormat(outputSchema) } }),
  }
}

function schemaFormat({
  name,
  schema,
}: NonNullable<ModelRequest['outputSchema']>): NonNullable<ResponsesBody['text']>['format'] {
  return { type: 'json_schema', name, schema: { ...schema }, strict: isStrict(schema) }
}

function wireTool(tool: ToolDeclaration, freeform: boolean): WireTool {
  const { name, description } = tool
  return tool.kind === 'freeform' && freeform
    ? { type: 'custom', name, description, format: { type: 'grammar', ...tool.grammar } }
    : { type: 'function', name, description, parameters: { ...tool.parameters }, strict: false }
}

function searchTool({ webSearch }: ModelRequest): WireTool[] {
  if (webSearch === undefined) return []
  const { mode, domains } = webSearch
  const filters = domains === undefined ? {} : { filters: { allowed_domains: [...domains] } }
  return [{ type: 'web_search', external_web_access: mode === 'live', ...filters }]
}

/** An item of a history never changes, and a long run sends it a thousand times: it is translated once. */
const translated = new WeakMap<HistoryItem, readonly InputItem[]>()

function inputItems(history: readonly HistoryItem[]): InputItem[] {
  const freeform = new Set<string>()
  return history.flatMap((item) => {
    if (item.type === 'tool_call' && item.call.kind === 'freeform') freeform.add(item.call.id)
    const known = translated.get(item) ?? inputItemsOf(item, freeform)
    translated.set(item, known)
    return known
  })
}

/** @param freeform the ids of the freeform calls before it: which of them a result answers decides its type */
function inputItemsOf(item: HistoryItem, freeform: ReadonlySet<string>): readonly InputItem[] {
  switch (item.type) {
    case 'message':
      return [messageItem(item)]
    case 'reasoning': {
      // Another provider's reasoning means nothing to this one.
      const own = opaqueReasoning.safeParse(item.opaque)
      return own.success ? [own.data.item] : []
    }
    case 'web_search': {
      const own = opaqueSearch.safeParse(item.opaque)
      return own.success ? [own.data.item] : []
    }
    case 'tool_call': {
      const { id, name, input, kind } = item.call
      return kind === 'function'
        ? [{ type: 'function_call', call_id: id, name, arguments: input }]
        : [{ type: 'custom_tool_call', call_id: id, name, input }]
    }
    case 'tool_result': {
      const type = freeform.has(item.callId) ? 'custom_tool_call_output' : 'function_call_output'
      return [{ type, call_id: item.callId, output: withImages(item.output, item.images ?? []) }]
    }
    default:
      return item satisfies never
  }
}

function messageItem(item: Extract<HistoryItem, { type: 'message' }>): InputItem {
  if (item.role !== 'assistant') {
    return { type: 'message', role: item.role, content: withImages(item.text, item.images ?? []) }
  }
  const phase = messagePhase.safeParse(item.phase)
  return { type: 'message', role: 'assistant', content: item.text, ...(phase.success ? { phase: phase.data } : {}) }
}

const messagePhase = z.enum(['commentary', 'final_answer'])

function withImages(text: string, images: readonly Image[]): string | (InputText | InputImage)[] {
  if (images.length === 0) return text
  const pictures = images.map((image): InputImage => {
    return { type: 'input_image', image_url: `data:${image.mediaType};base64,${image.data}`, detail: 'auto' }
  })
  return text === '' ? pictures : [{ type: 'input_text', text }, ...pictures]
}
