import type { ModelRequest, ToolDeclaration } from '../core/model.ts'
import { agentDefaults } from './agent-defaults.ts'
import { reasons, takesFreeform } from './openai-models.ts'
import { inputItems } from './responses-items.ts'
import type { InputItem } from './responses-items.ts'
import { isStrict } from './strict-schema.ts'

/** The body of `POST /responses` (https://platform.openai.com/docs/api-reference/responses/create), limited to the fields that we use. */
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
  service_tier?: Tier
  reasoning?: { effort: Effort }
  temperature?: number
  top_p?: number
  max_output_tokens?: number
  text?: {
    verbosity?: 'low' | 'medium' | 'high'
    format?: { type: 'json_schema'; name: string; schema: Record<string, unknown>; strict: boolean }
  }
}

type Tier = 'auto' | 'default' | 'flex' | 'scale' | 'priority'

type Effort = 'none' | 'minimal' | 'low' | 'medium' | 'high' | 'xhigh'

type WireTool =
  | { type: 'function'; name: string; description: string; parameters: Record<string, unknown>; strict: false }
  | {
      type: 'custom'
      name: string
      description: string
      format: { type: 'grammar'; syntax: 'lark'; definition: string }
    }
  | { type: 'web_search'; external_web_access: boolean; filters?: { allowed_domains: string[] } }

/** Builds the request. The same history always produces the same bytes, so that the provider's prefix cache can be used. */
export function buildResponsesBody(model: string, request: ModelRequest): ResponsesBody {
  const { outputSchema, sampling: { temperature, topP, maxOutputTokens } = {} } = request
  const defaults = request.requestedBy === 'agent' ? agentDefaults(model) : {}
  const { reasoningEffort = defaults.effort, verbosity = defaults.verbosity } = request
  return {
    model,
    instructions: request.instructions,
    input: inputItems(request.history, model),
    tools: [...request.tools.map((tool) => wireTool(tool, takesFreeform(model))), ...searchTool(request)],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    store: false,
    stream: true,
    // Models without reasoning refuse a request that asks for reasoning.
    include: reasons(model) ? ['reasoning.encrypted_content'] : [],
    prompt_cache_key: request.threadId,
    ...(request.serviceTier === undefined ? {} : { service_tier: request.serviceTier as Tier }),
    ...(reasoningEffort === undefined ? {} : { reasoning: { effort: reasoningEffort as Effort } }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { top_p: topP }),
    ...(maxOutputTokens === undefined ? {} : { max_output_tokens: maxOutputTokens }),
    ...(outputSchema === undefined && verbosity === undefined
      ? {}
      : {
          text: {
            ...(verbosity === undefined ? {} : { verbosity }),
            ...(outputSchema === undefined ? {} : { format: schemaFormat(outputSchema) }),
          },
        }),
  }
}

function schemaFormat({
  name,
  schema,
}: NonNullable<ModelRequest['outputSchema']>): NonNullable<NonNullable<ResponsesBody['text']>['format']> {
  return { type: 'json_schema', name, schema: { ...schema }, strict: isStrict(schema) }
}

function wireTool(tool: ToolDeclaration, freeform: boolean): WireTool {
  const { name, description } = tool
  return tool.kind === 'freeform' && freeform
    ? { type: 'custom', name, description: tool.freeformDescription, format: { type: 'grammar', ...tool.grammar } }
    : { type: 'function', name, description, parameters: { ...tool.parameters }, strict: false }
}

function searchTool({ webSearch }: ModelRequest): WireTool[] {
  if (webSearch === undefined) return []
  const { mode, domains } = webSearch
  const filters = domains === undefined ? {} : { filters: { allowed_domains: [...domains] } }
  return [{ type: 'web_search', external_web_access: mode === 'live', ...filters }]
}
