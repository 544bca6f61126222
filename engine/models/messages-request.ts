import type { ModelRequest, ToolDeclaration } from '../core/model.ts'
import { agentDefaults } from './agent-defaults.ts'
import { enforcesSchema, leastThinking, longestAnswer, preservesThinking, thinksByBudget } from './claude-models.ts'
import { mayThink, messagesOf, withoutLooseEnds } from './messages-turns.ts'
import type { Cached, TextBlock, WireMessage } from './messages-turns.ts'
import { prefixOf, withoutUnbound, type Block, type Prefix } from './preserved-thinking.ts'
import { cached } from './messages-cache.ts'
import { takeTurns } from './turns.ts'

/** The body of `POST /v1/messages` (https://platform.claude.com/docs/en/api/messages), limited to the fields that we use. */
export type MessagesBody = {
  model: string
  max_tokens: number
  system?: TextBlock[]
  messages: WireMessage[]
  tools?: AnyTool[]
  stream: true
  temperature?: number
  top_p?: number
  thinking?:
    { type: 'adaptive' } | { type: 'enabled'; budget_tokens: number } | { type: 'disabled' } | { type: 'between_tools' }
  output_config?: {
    effort?: 'low' | 'medium' | 'high' | 'xhigh' | 'max'
    format?: { type: 'json_schema'; schema: Record<string, unknown> }
  }
}

type WireTool = { name: string; description: string; input_schema: { type: 'object' } & Record<string, unknown> }

type AnyTool = (WireTool | { type: 'web_search_20250305'; name: 'web_search'; allowed_domains?: string[] }) & Cached

/** Builds the body of the request. The same history gives the same bytes up to its last message, so that the provider's prefix cache can be used. */
export function buildMessagesBody(model: string, request: ModelRequest): MessagesBody {
  return buildMessages(model, request).body
}

/**
 * Like `buildMessagesBody`, but also returns `prefix`, the digest of everything before the answer. It is undefined if the provider doesn't check
 * that the thinking blocks of this model are sent back after the same prefix.
 */
export function buildMessages(
  model: string,
  request: ModelRequest,
): { readonly body: MessagesBody; readonly prefix: Prefix | undefined } {
  const { instructions, turns } = takeTurns(request.instructions, request.history)
  const translated = withoutLooseEnds(turns.flatMap((turn) => messagesOf(turn, { model, tools: request.tools })))
  const tools = [...request.tools.map(wireTool), ...searchTool(request)]
  const bound = preservesThinking(model)
    ? withoutUnbound<Block, WireMessage>(prefixOf([instructions, tools]), translated)
    : { messages: translated, prefix: undefined }
  const { temperature, topP, maxOutputTokens } = request.sampling ?? {}
  const body: MessagesBody = {
    model,
    max_tokens: maxOutputTokens ?? longestAnswer(model),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...cached({ tools, instructions, messages: bound.messages }),
    stream: true,
    ...reasoning(model, request, bound.messages),
  }
  return { body, prefix: bound.prefix }
}

/** Declares the provider's search tool. The API offers no choice between cached and live pages, so the setting for this choice is ignored. */
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

const budgets: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 4096,
  medium: 10_000,
  high: 20_000,
  xhigh: 28_000,
  max: 28_000,
}

function reasoning(
  model: string,
  request: ModelRequest,
  messages: readonly WireMessage[],
): Pick<MessagesBody, 'thinking' | 'output_config'> {
  const { outputSchema, sampling: { maxOutputTokens } = {} } = request
  const effort = request.reasoningEffort ?? (request.requestedBy === 'agent' ? agentDefaults(model).effort : undefined)
  const format =
    outputSchema === undefined || !enforcesSchema(model)
      ? {}
      : { format: { type: 'json_schema' as const, schema: { ...outputSchema.schema } } }
  const configured = (config: NonNullable<MessagesBody['output_config']>) =>
    Object.keys(config).length === 0 ? {} : { output_config: config }
  if (effort === undefined) return configured(format)
  if (effort === 'none') {
    const least = leastThinking(model)
    // If thinking can't be switched off, it can at least be reduced.
    return least === 'always'
      ? { thinking: { type: 'adaptive' }, ...configured({ effort: 'low', ...format }) }
      : { thinking: { type: least }, ...configured(format) }
  }
  if (!thinksByBudget(model)) {
    const level = (effort === 'minimal' ? 'low' : effort) as 'low' | 'medium' | 'high' | 'xhigh' | 'max'
    return { thinking: { type: 'adaptive' }, ...configured({ effort: level, ...format }) }
  }
  const budget = Math.min(budgets[effort] ?? 10_000, (maxOutputTokens ?? longestAnswer(model)) - 1024)
  // The API requires a budget of at least 1024 tokens for thinking. The 1024 tokens subtracted above are for the answer.
  if (budget < 1024 || !mayThink(messages)) return { thinking: { type: 'disabled' }, ...configured(format) }
  return { thinking: { type: 'enabled', budget_tokens: budget }, ...configured(format) }
}
