import * as z from 'zod'
import type { Image, ModelRequest, ToolDeclaration } from '../model.ts'
import { argumentsObject } from './as-function.ts'
import { takeTurns, translateOnce } from './turns.ts'
import type { Turn } from './turns.ts'

/** The body of `POST /v1/messages` (https://platform.claude.com/docs/en/api/messages), as far as used. */
export type MessagesBody = {
  model: string
  max_tokens: number
  system?: TextBlock[]
  messages: WireMessage[]
  tools?: (WireTool | { type: 'web_search_20250305'; name: 'web_search'; allowed_domains?: string[] })[]
  stream: true
  temperature?: number
  top_p?: number
  thinking?: { type: 'adaptive' } | { type: 'enabled'; budget_tokens: number } | { type: 'disabled' }
  output_config?: {
    effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
    format?: { type: 'json_schema'; schema: Record<string, unknown> }
  }
}

type WireTool = { name: string; description: string; input_schema: { type: 'object' } & Record<string, unknown> }
type Cached = { cache_control?: { type: 'ephemeral' } }
type TextBlock = { type: 'text'; text: string } & Cached
type ImageBlock = { type: 'image'; source: { type: 'base64'; media_type: MediaType; data: string } } & Cached
type MediaType = 'image/jpeg' | 'image/png' | 'image/gif' | 'image/webp'
type ResultBlock = {
  type: 'tool_result'
  tool_use_id: string
  content: (TextBlock | ImageBlock)[]
  is_error: boolean
} & Cached
type ThinkingBlock = z.infer<typeof opaqueThinking>['block']
type SearchBlock =
  | { type: 'server_tool_use'; id: string; name: 'web_search'; input: unknown }
  | { type: 'web_search_tool_result'; tool_use_id: string; content: FoundPage[] }
type FoundPage = { type: 'web_search_result'; url: string; title: string; encrypted_content: string }
type ModelBlock =
  TextBlock | ThinkingBlock | SearchBlock | { type: 'tool_use'; id: string; name: string; input: unknown }
type UserBlock = TextBlock | ImageBlock | ResultBlock
type WireMessage = { role: 'user'; content: UserBlock[] } | { role: 'assistant'; content: ModelBlock[] }

/** What `HistoryItem.opaque` holds for a thinking block. Its signature is checked: it must go back as it came. */
const opaqueThinking = z.object({
  from: z.literal('anthropic-messages'),
  block: z.union([
    z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
    z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  ]),
})

/** The same for a search: its question, and what was found, which only the provider can read. */
const opaqueSearch = z.object({
  from: z.literal('anthropic-messages'),
  blocks: z.array(z.custom<SearchBlock>((block) => searchBlock.safeParse(block).success)),
})

const searchBlock = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('server_tool_use'), id: z.string() }),
  z.looseObject({ type: z.literal('web_search_tool_result'), tool_use_id: z.string() }),
])

/** Builds the request. The same history gives the same bytes up to its last message, so that the prefix cache hits. */
export function buildMessagesBody(model: string, request: ModelRequest): MessagesBody {
  const { instructions, turns } = takeTurns(request.instructions, request.history)
  const messages = turns.flatMap((turn) => translated(turn, request.tools))
  const { temperature, topP, maxOutputTokens } = request.sampling ?? {}
  const tools = [...request.tools.map(wireTool), ...searchTool(request)]
  return {
    model,
    max_tokens: maxOutputTokens ?? longestOutput(model),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    // One breakpoint here covers the tools too, which come before the system text in the prefix.
    ...(instructions === ''
      ? {}
      : { system: [{ type: 'text', text: instructions, cache_control: { type: 'ephemeral' } }] }),
    messages: markCached(messages),
    ...(tools.length === 0 ? {} : { tools }),
    stream: true,
    ...reasoning(model, request),
  }
}

/** The API doesn't tell apart what was read before from what is live. */
function searchTool({ webSearch }: ModelRequest): NonNullable<MessagesBody['tools']> {
  if (webSearch === undefined) return []
  const { domains } = webSearch
  const filter = domains === undefined ? {} : { allowed_domains: [...domains] }
  return [{ type: 'web_search_20250305', name: 'web_search', ...filter }]
}

function wireTool(tool: ToolDeclaration): WireTool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: { ...tool.parameters, type: 'object' },
  }
}

const translated = translateOnce(messageOf)

function messageOf(turn: Turn, tools: readonly ToolDeclaration[]): readonly WireMessage[] {
  switch (turn.side) {
    case 'model': {
      const content: ModelBlock[] = [
        ...turn.unread.flatMap(({ opaque }): ModelBlock[] => {
          const own = z.union([opaqueThinking, opaqueSearch]).safeParse(opaque).data
          if (own === undefined) return []
          return 'block' in own ? [own.block] : own.blocks
        }),
        ...turn.texts.flatMap(textBlock),
        ...turn.calls.map((call): ModelBlock => {
          return { type: 'tool_use', id: wireId(call.id), name: call.name, input: argumentsObject(call, tools) }
        }),
      ]
      return content.length === 0 ? [] : [{ role: 'assistant', content }]
    }
    case 'us': {
      const content: UserBlock[] = [
        // Results must stand before anything else that answers calls.
        ...turn.results.map(({ callId, output, ok, images = [] }): UserBlock => {
          const shown = [...textBlock(output), ...images.map(imageBlock)]
          return { type: 'tool_result', tool_use_id: wireId(callId), content: shown, is_error: !ok }
        }),
        ...turn.messages.flatMap(({ text, images = [] }) => [...images.map(imageBlock), ...textBlock(text)]),
      ]
      return content.length === 0 ? [] : [{ role: 'user', content }]
    }
    default:
      return turn satisfies never
  }
}

/** The API refuses blocks without text. */
function textBlock(text: string): TextBlock[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function imageBlock(image: Image): ImageBlock {
  return {
    type: 'image',
    source: { type: 'base64', media_type: image.mediaType as MediaType, data: image.data },
  }
}

/** Ids of other providers' calls may hold what this API's pattern refuses. */
function wireId(id: string): string {
  return id.replace(/[^a-zA-Z0-9_-]/g, '_')
}

/**
 * Breakpoints on the last two things we said: the newest writes the cache, the one before is where the last request
 * wrote it. The API looks back only some blocks from a breakpoint, and many parallel results are many blocks.
 */
function markCached(messages: readonly WireMessage[]): WireMessage[] {
  const ours = messages.flatMap(({ role }, at) => (role === 'user' ? [at] : [])).slice(-2)
  return messages.map((message, at) => {
    const last = message.content.at(-1)
    if (message.role !== 'user' || last === undefined || !ours.includes(at)) return message
    // The message itself is sent again without the mark.
    const marked = { ...last, cache_control: { type: 'ephemeral' as const } }
    return { role: 'user', content: [...message.content.slice(0, -1), marked] as UserBlock[] }
  })
}

/** Models up to Claude 4.5: they think within a fixed budget, and know no adaptive thinking. */
function thinksByBudget(model: string): boolean {
  return /claude-(?:[23]|instant|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8}|@|:|-latest|-v\d|$))/.test(model)
}

/** Whether the provider can hold this model to a schema: Claude 4.5 and later. */
export function enforcesSchema(model: string): boolean {
  return !thinksByBudget(model) || /-4-5/.test(model)
}

/** The API wants a limit. These are what every model of the family accepts; streaming makes long ones harmless. */
function longestOutput(model: string): number {
  if (/claude-3-(?:opus|sonnet|haiku)|claude-2/.test(model)) return 4096
  return /claude-3-5/.test(model) ? 8192 : 32_000
}

const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 20_000,
  xhigh: 28_000,
  max: 28_000,
}

function reasoning(model: string, request: ModelRequest): Pick<MessagesBody, 'thinking' | 'output_config'> {
  const { outputSchema, reasoningEffort: effort, sampling: { maxOutputTokens } = {} } = request
  const format =
    outputSchema === undefined || !enforcesSchema(model)
      ? {}
      : { format: { type: 'json_schema' as const, schema: { ...outputSchema.schema } } }
  const configured = (config: NonNullable<MessagesBody['output_config']>) =>
    Object.keys(config).length === 0 ? {} : { output_config: config }
  if (effort === undefined) return configured(format)
  if (effort === 'none') return { thinking: { type: 'disabled' }, ...configured(format) }
  if (!thinksByBudget(model)) {
    const level = (effort === 'minimal' ? 'low' : effort) as 'low' | 'medium' | 'high' | 'xhigh' | 'max'
    return { thinking: { type: 'adaptive' }, ...configured({ effort: level, ...format }) }
  }
  const budget = Math.min(budgets[effort] ?? 10_000, (maxOutputTokens ?? longestOutput(model)) - 1024)
  // The API takes no less; what is left is for the answer.
  if (budget < 1024) return { thinking: { type: 'disabled' }, ...configured(format) }
  return { thinking: { type: 'enabled', budget_tokens: budget }, ...configured(format) }
}
