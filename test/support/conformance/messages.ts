import type { Received } from '../sse-server.ts'
import { eventsIn, firstBroken, firstTwice, type Rule } from './rules.ts'
import { unacceptable } from './tool-schema.ts'

type Block = Readonly<Record<string, unknown>> & { readonly type: string }
type Message = { readonly role: string; readonly content: readonly Block[] }
type Body = {
  readonly model: string
  readonly max_tokens?: number
  readonly system?: readonly Block[]
  readonly messages: readonly Message[]
  readonly tools?: readonly {
    readonly type?: string
    readonly name: string
    readonly input_schema?: { type?: string }
  }[]
  readonly thinking?: { readonly type: string; readonly budget_tokens?: number }
  readonly output_config?: { readonly effort?: string }
}

const docs = 'https://platform.claude.com/docs/en'

/** Matches the models whose thinking blocks are checked against the conversation before them. */
const preserving = /claude-(?:(?:fable|mythos)-5-[1-9]|(?:opus|sonnet|haiku)-5-5)/
const alwaysThinking = /claude-(?:(?:fable|mythos)-5|opus-5-5)/

/**
 * The thinking blocks sent so far, each with the conversations before it. All mock servers share this map, because a resumed run may use another
 * server of the same provider.
 */
const everSent = new Map<string, Set<string>>()

/** Checks requests as Anthropic's API does. The mock remembers what it has sent. */
export class MessagesConformance {
  /** The message with which the API would answer 400; undefined if it accepts the request. */
  complaint(request: Received): string | undefined {
    return firstBroken([...rules, ...this.#remembering], { ...request, body: spelledOut(request.body) })
  }

  /** Remembers the response to a request. */
  sent({ body: sent }: Received, frames: readonly string[]): void {
    const body = spelledOut(sent) as Body
    const before = flatten(body)
    for (const block of blocksIn(frames)) {
      if (isThinking(block)) {
        const key = JSON.stringify(block)
        everSent.set(key, (everSent.get(key) ?? new Set()).add(prefix(body, before)))
      }
      before.push(['assistant', block])
    }
  }

  readonly #remembering: readonly Rule<Body>[] = [
    {
      source: `${docs}/build-with-claude/extended-thinking#preserving-thinking-blocks`,
      broken: ({ messages }) => {
        const blocks = messages.flatMap(({ content }) => content.map(unmarked))
        const forged = blocks.find((block) => isThinking(block) && !everSent.has(JSON.stringify(block)))
        return forged && `messages: Invalid \`signature\` in \`thinking\` block: ${JSON.stringify(forged)}`
      },
    },
    {
      source: `${docs}/build-with-claude/preserved-thinking/prefix-checks`,
      broken: (body) => {
        if (!preserving.test(body.model)) return undefined
        const before: (readonly [string, Block])[] = []
        for (const [role, block] of flatten(body)) {
          const isBound = !isThinking(block) || everSent.get(JSON.stringify(block))?.has(prefix(body, before)) === true
          if (!isBound)
            return 'messages: Invalid `signature` in `thinking` block. The block is bound to a different conversation.'
          before.push([role, block])
        }
        return undefined
      },
    },
  ]
}

/** A body in which plain text content is replaced by the equivalent block. */
function spelledOut(body: unknown): unknown {
  const { messages } = body as { readonly messages?: unknown }
  if (!Array.isArray(messages)) return body
  const spelled = messages.map((message: { readonly content?: unknown }) =>
    typeof message.content === 'string' ? { ...message, content: [{ type: 'text', text: message.content }] } : message,
  )
  return { ...(body as object), messages: spelled }
}

function isThinking({ type }: Block): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

/** All blocks with their roles. The API merges consecutive messages of one role. */
function flatten({ messages }: Body): (readonly [string, Block])[] {
  return messages.flatMap(({ role, content }) => content.map((block) => [role, unmarked(block)] as const))
}

function prefix({ system, tools }: Body, before: readonly (readonly [string, Block])[]): string {
  return JSON.stringify([system?.map(unmarked), tools, before])
}

/** A block without its cache mark and its `null` fields, with its fields in a fixed order. */
function unmarked(block: Block): Block {
  const fields = Object.entries(block).filter(([name, value]) => name !== 'cache_control' && value !== null)
  return Object.fromEntries(fields.toSorted(([one], [other]) => one.localeCompare(other))) as Block
}

/** The content of a message, assembled from its stream events. */
function blocksIn(frames: readonly string[]): readonly Block[] {
  const blocks = new Map<unknown, Record<string, unknown>>()
  const json = new Map<unknown, string>()
  for (const event of eventsIn(frames)) {
    const { type, index } = event
    if (type === 'content_block_start') blocks.set(index, { ...(event['content_block'] as object) })
    const block = blocks.get(index)
    if (type !== 'content_block_delta' || block === undefined) continue
    const delta = event['delta'] as Readonly<Record<string, unknown>>
    for (const field of ['text', 'thinking', 'signature']) {
      if (typeof delta[field] === 'string') block[field] = `${String(block[field] ?? '')}${delta[field]}`
    }
    if (delta['citation'] !== undefined)
      block['citations'] = [...((block['citations'] as unknown[] | null) ?? []), delta['citation']]
    if (typeof delta['partial_json'] === 'string') json.set(index, `${json.get(index) ?? ''}${delta['partial_json']}`)
  }
  for (const [index, text] of json) {
    const block = blocks.get(index)
    if (block !== undefined && text !== '') block['input'] = inputOf(text)
  }
  return [...blocks.values()].map((block) => unmarked(block as Block))
}

function inputOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Input that is not JSON can't be sent back as it is. This is what our client sends instead.
    return { malformed_arguments: text }
  }
}

const rules: readonly Rule<Body>[] = [
  {
    source: `${docs}/api/versioning`,
    broken: (_, { headers }) =>
      headers['anthropic-version'] === undefined ? 'anthropic-version: header is required' : undefined,
  },
  {
    source: `${docs}/api/messages`,
    broken: ({ max_tokens: limit, messages }) => {
      if (limit === undefined) return 'max_tokens: Field required'
      if (!Array.isArray(messages)) return 'messages: Field required'
      if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role'
      const empty = messages.findIndex(({ content }) => content.length === 0)
      return empty === -1 ? undefined : `messages.${empty}: all messages must have non-empty content`
    },
  },
  {
    source: `${docs}/about-claude/models/overview`,
    broken: ({ model, max_tokens: limit = 0 }) => {
      const most = /claude-3-(?:opus|sonnet|haiku)/.test(model)
        ? 4096
        : /claude-3-5/.test(model)
          ? 8192
          : /claude-opus-4(?:-[01])?(?:-\d{8}|$)/.test(model)
            ? 32_000
            : /-4-\d/.test(model)
              ? 64_000
              : 128_000
      return limit > most ? `max_tokens: ${limit} > ${most}, which is the maximum allowed for ${model}` : undefined
    },
  },
  {
    source: `${docs}/build-with-claude/prompt-caching#limitations`,
    broken: (body) => {
      const marks = JSON.stringify(body).match(/"cache_control"/g) ?? []
      return marks.length > 4
        ? `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`
        : undefined
    },
  },
  {
    source: `${docs}/api/errors`,
    broken: ({ messages }) => {
      const texts = messages.flatMap(({ content }) => content.flatMap(inside)).filter(({ type }) => type === 'text')
      return texts.some(({ text }) => String(text).trim() === '')
        ? 'messages: text content blocks must contain non-whitespace text'
        : undefined
    },
  },
  {
    source: `${docs}/about-claude/models/migration-guide#prefill-removal`,
    broken: ({ model, messages }) => {
      const last = messages.at(-1)
      if (last?.role !== 'assistant' || /claude-3|-4-[015]/.test(model)) return undefined
      // A paused turn is sent back so that the provider continues it.
      return last.content.some(({ type }) => type === 'server_tool_use')
        ? undefined
        : 'This model does not support assistant message prefill. The conversation must end with a user message.'
    },
  },
  {
    source: `${docs}/api/errors`,
    broken: ({ messages }) => {
      const at = messages.slice(0, -1).findIndex(({ role, content }) => {
        const last = content.at(-1)
        return role === 'assistant' && last !== undefined && isThinking(last)
      })
      return at === -1 ? undefined : `messages.${at}: The final block in an assistant message cannot be \`thinking\`.`
    },
  },
  {
    source: `${docs}/agents-and-tools/tool-use/handle-tool-calls#formatting-requirements`,
    broken: ({ messages }) => messages.map((message, at) => unanswered(message, messages[at + 1], at)).find(Boolean),
  },
  {
    source: `${docs}/agents-and-tools/tool-use/handle-tool-calls#formatting-requirements`,
    broken: ({ messages }) => messages.map((message, at) => stray(message, messages[at - 1], at)).find(Boolean),
  },
  {
    source: `${docs}/agents-and-tools/tool-use/define-tools`,
    broken: ({ messages, tools = [] }) => {
      const calls = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_use'))
      const twice = firstTwice(calls.map(({ id }) => String(id)))
      if (twice !== undefined) return `messages: \`tool_use\` ids must be unique: ${twice}`
      const odd = calls.find(({ id, input }) => !/^[a-zA-Z0-9_-]+$/.test(String(id)) || !isTable(input))
      if (odd !== undefined) return `messages: tool_use.id or input: ${JSON.stringify(odd)}`
      const called = calls.find(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(String(name)))
      if (called !== undefined)
        return `messages: tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$': ${String(called['name'])}`
      const again = firstTwice(tools.map(({ name }) => name))
      if (again !== undefined) return `tools: Tool names must be unique: ${again}`
      const named = tools.find(({ name }) => !/^[a-zA-Z0-9_-]{1,128}$/.test(name))
      if (named !== undefined) return `tools: name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$': ${named.name}`
      const shaped = tools.find(({ type, input_schema: schema }) => type === undefined && schema?.type !== 'object')
      if (shaped !== undefined) return `tools.${shaped.name}.input_schema.type: Field required`
      return tools
        .map(({ type, input_schema: schema }, at) => {
          const words = type === undefined ? unacceptable(schema) : undefined
          return words && `tools.${at}.custom.input_schema: JSON schema is invalid: ${words}`
        })
        .find(Boolean)
    },
  },
  {
    source: `${docs}/agents-and-tools/tool-use/web-search-tool#pause-turn`,
    broken: ({ messages }) =>
      messages
        .map(({ content }, at) => {
          if (at === messages.length - 1 || content.some(({ type }) => type === 'tool_use')) return undefined
          const answered = new Set(content.map((block) => block['tool_use_id']))
          const open = content.find((block) => block.type === 'server_tool_use' && !answered.has(block['id']))
          return open && `messages.${at}: web_search tool use with id ${String(open['id'])} has no result block`
        })
        .find(Boolean),
  },
  {
    source: `${docs}/models/opus-5-5/whats-new-opus-5-5#thinking-cant-be-disabled`,
    broken: ({ model, thinking, output_config: config }) => {
      const type = thinking?.type ?? 'adaptive'
      const isRefused =
        (type === 'disabled' && (alwaysThinking.test(model) || /sonnet-5-5/.test(model))) ||
        (type === 'between_tools' && !/sonnet-5-5/.test(model)) ||
        (type === 'enabled' && /claude-(?:fable|mythos|opus-(?:4-[78]|5)|sonnet-5|haiku-5)/.test(model))
      if (isRefused) return `"thinking.type.${type}" is not supported for this model.`
      const isHigh = ['xhigh', 'max'].includes(config?.effort ?? '')
      return isHigh && ['disabled', 'between_tools'].includes(type)
        ? `thinking.type.${type} with this effort`
        : undefined
    },
  },
  {
    source: `${docs}/build-with-claude/extended-thinking#extended-thinking-with-tool-use`,
    broken: ({ messages, thinking, max_tokens: limit = 0 }) => {
      if (thinking?.type !== 'enabled') return undefined
      const { budget_tokens: budget = 0 } = thinking
      if (budget < 1024 || budget >= limit) return `thinking.budget_tokens: ${budget} with max_tokens ${limit}`
      const answers = messages.at(-1)?.content.some(({ type }) => type === 'tool_result') ?? false
      const [first] = messages.findLast(({ role }) => role === 'assistant')?.content ?? []
      if (!answers || first === undefined || isThinking(first)) return undefined
      return `messages: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first.type}\`.`
    },
  },
]

function inside(block: Block): readonly Block[] {
  return block.type === 'tool_result' ? (block['content'] as readonly Block[]) : [block]
}

function isTable(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function unanswered(message: Message, next: Message | undefined, at: number): string | undefined {
  const calls = message.content.filter(({ type }) => type === 'tool_use')
  const first = next?.content.slice(0, calls.length) ?? []
  const open = calls.find(({ id }) => !first.some((block) => block['tool_use_id'] === id))
  return (
    open &&
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${String(open['id'])}`
  )
}

function stray(message: Message, before: Message | undefined, at: number): string | undefined {
  const asked = before?.content.filter(({ type }) => type === 'tool_use').map(({ id }) => id) ?? []
  const results = message.content.filter(({ type }) => type === 'tool_result')
  const alone = results.find((block) => !asked.includes(block['tool_use_id']))
  if (alone !== undefined) return `messages.${at}: unexpected \`tool_use_id\`: ${String(alone['tool_use_id'])}`
  const failed = results.filter((block) => block['is_error'] === true).flatMap(inside)
  return failed.some(({ type }) => type !== 'text')
    ? `messages.${at}: all content must be type text if is_error`
    : undefined
}
