import type { Received } from '../sse-server.ts'
import { eventsIn, firstBroken, firstTwice, type Rule } from './rules.ts'
import { unacceptable } from './tool-schema.ts'

type Item = {
  readonly type: string
  readonly role?: string
  readonly id?: string
  readonly call_id?: string
  readonly name?: unknown
} & Readonly<Record<string, unknown>>
type Body = {
  readonly model: string
  readonly input: readonly Item[]
  readonly tools?: readonly { readonly type: string; readonly name?: string; readonly parameters?: unknown }[]
  readonly prompt_cache_key?: string
  readonly include?: readonly string[]
  readonly reasoning?: object
  readonly max_output_tokens?: number
}

const docs = 'https://platform.openai.com/docs'

/** The reasoning items sent so far. All mock servers share this set, because a resumed run may use another server of the same provider. */
const sealed = new Set<string>()

/** Checks requests as OpenAI's Responses API does. The server stores nothing, but recognizes what it has sealed. */
export class ResponsesConformance {
  /** The id of the reasoning that came before an item, by the item's id. */
  readonly #required = new Map<string, string>()

  /** The message with which the API would answer 400; undefined if it accepts the request. */
  complaint(request: Received): string | undefined {
    return firstBroken([...rules, ...this.#remembering], request)
  }

  /** Remembers what the server sends. */
  sent(_: Received, frames: readonly string[]): void {
    let reasoning: string | undefined
    for (const event of eventsIn(frames)) {
      if (event['type'] !== 'response.output_item.done') continue
      const item = event['item'] as Item
      if (item.type === 'reasoning') {
        reasoning = item.id
        sealed.add(told(item))
      } else if (item.id !== undefined && reasoning !== undefined) this.#required.set(item.id, reasoning)
    }
  }

  readonly #remembering: readonly Rule<Body>[] = [
    {
      source: `${docs}/guides/reasoning#encrypted-reasoning-items`,
      broken: ({ input }) => {
        const forged = input.find((item) => item.type === 'reasoning' && !sealed.has(told(item)))
        return forged && `The encrypted content of item ${forged.id} could not be verified.`
      },
    },
    {
      source: `${docs}/guides/reasoning#keeping-reasoning-items-in-context`,
      broken: ({ input }) => {
        const unsealed = input.find(
          (item) => item.type === 'reasoning' && typeof item['encrypted_content'] !== 'string',
        )
        if (unsealed !== undefined)
          return `Item with id '${unsealed.id}' not found. Items are not persisted when \`store\` is set to false.`
        const alone = input.find((item, at) => item.type === 'reasoning' && !isModels(input[at + 1]))
        if (alone !== undefined)
          return `Item '${alone.id}' of type 'reasoning' was provided without its required following item.`
        const ids = new Set(input.map(({ id }) => id))
        const bereft = input.find(({ id }) => id !== undefined && !ids.has(this.#required.get(id) ?? id))
        return (
          bereft && `Item '${bereft.id}' of type '${bereft.type}' was provided without its required 'reasoning' item.`
        )
      },
    },
  ]
}

function told({ summary, encrypted_content: content, id }: Item): string {
  return JSON.stringify([id, summary, content])
}

function isModels(item: Item | undefined): boolean {
  if (item === undefined || item.type.endsWith('_output')) return false
  return item.type !== 'message' || item.role === 'assistant'
}

const rules: readonly Rule<Body>[] = [
  {
    source: `${docs}/api-reference/responses/create`,
    broken: ({ input }) => (Array.isArray(input) ? undefined : "'input' must be an array"),
  },
  {
    source: `${docs}/guides/function-calling`,
    broken: ({ input }) =>
      (['function_call', 'custom_tool_call'] as const).map((kind) => unpaired(input, kind)).find(Boolean),
  },
  {
    source: 'https://github.com/openai/codex/issues/14355',
    broken: ({ input }) => {
      const long = input.find(({ call_id: id = '' }) => id.length > 64)
      return (
        long && `Invalid 'input[].call_id': string too long. Expected a string with maximum length 64: ${long.call_id}`
      )
    },
  },
  {
    source: `${docs}/api-reference/responses/create#responses-create-input`,
    broken: ({ input }) => {
      const odd = input.find(({ name = 'x' }) => !/^[a-zA-Z0-9_-]{1,64}$/.test(String(name)))
      return odd && `Invalid 'input[].name': string does not match pattern '^[a-zA-Z0-9_-]+$': ${String(odd['name'])}`
    },
  },
  {
    source: `${docs}/api-reference/responses/create#responses-create-max_output_tokens`,
    broken: ({ max_output_tokens: limit = 16 }) =>
      limit < 16
        ? `Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16: ${limit}`
        : undefined,
  },
  {
    source: `${docs}/api-reference/responses/create#responses-create-tools`,
    broken: ({ tools = [] }) => {
      if (tools.length > 128) return `Invalid 'tools': array too long. Expected at most 128, got ${tools.length}.`
      const names = tools.flatMap(({ name }) => name ?? [])
      const twice = firstTwice(names)
      if (twice !== undefined) return `tools: ${twice} is there twice`
      const odd = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      if (odd !== undefined) return `Invalid 'tools[].name': ${odd}`
      return tools
        .map(({ type, name = '', parameters }) => {
          const words = type === 'function' ? unacceptable(parameters) : undefined
          return words && `Invalid schema for function '${name}': ${words}`
        })
        .find(Boolean)
    },
  },
  {
    source: `${docs}/api-reference/responses/create#responses-create-prompt_cache_key`,
    broken: ({ prompt_cache_key: key = '' }) =>
      key.length > 64 ? `Invalid 'prompt_cache_key': string too long (${key.length})` : undefined,
  },
  {
    source: `${docs}/api-reference/responses/create#responses-create-include`,
    broken: ({ model, include = [], reasoning }) => {
      if (!/^gpt-[34]/.test(model)) return undefined
      if (reasoning !== undefined) return "Unsupported parameter: 'reasoning.effort' is not supported with this model."
      return include.includes('reasoning.encrypted_content')
        ? 'Encrypted content is not supported with this model.'
        : undefined
    },
  },
]

function unpaired(input: readonly Item[], kind: string): string | undefined {
  const words = kind.replaceAll('_', ' ')
  const calls = input.flatMap((item, at) => (item.type === kind ? [{ id: item.call_id ?? '', at }] : []))
  const outputs = input.flatMap((item, at) => (item.type === `${kind}_output` ? [{ id: item.call_id ?? '', at }] : []))
  const twice = firstTwice(outputs.map(({ id }) => id)) ?? firstTwice(calls.map(({ id }) => id))
  if (twice !== undefined) return `Duplicate item found with call_id ${twice}.`
  const open = calls.find(({ id, at }) => !outputs.some((output) => output.id === id && output.at > at))
  if (open !== undefined) return `No tool output found for ${words} ${open.id}.`
  const stray = outputs.find(({ id }) => !calls.some((call) => call.id === id))
  return stray && `No tool call found for ${words} output with call_id ${stray.id}.`
}
