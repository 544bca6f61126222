import type { Received } from '../sse-server.ts'
import { ungrammatical } from './llama-schema.ts'
import { eventsIn, firstBroken, firstTwice, type Rule } from './rules.ts'
import { unacceptable } from './tool-schema.ts'

type Call = {
  readonly id: string
  readonly function: { readonly name: string; readonly arguments: string }
} & Readonly<Record<string, unknown>>
type Message = {
  readonly role: string
  readonly content?: unknown
  readonly tool_call_id?: string
  readonly tool_calls?: readonly Call[]
} & Readonly<Record<string, unknown>>
type Body = {
  readonly model: string
  readonly messages: readonly Message[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[]
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
}

const openai = 'https://platform.openai.com/docs/api-reference/chat/create'
const mistral =
  'https://github.com/mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py'
const gemini = 'https://ai.google.dev/gemini-api/docs/thought-signatures'

/** Whether a model is one of OpenAI's, whose API accepts schemas that a local server doesn't accept. */
const isOpenAIs = (model: string): boolean => /^(?:gpt-(?!oss)|o\d|chatgpt-)/.test(model)

const isMistrals = (model: string): boolean => /mistral|mixtral|devstral|codestral/.test(model)

/** Checks requests as Chat Completions servers do: those of OpenAI and Google, and those that imitate them. */
export class ChatConformance {
  /** Additional data that was sent with calls, or with the messages that contain them, by the ids of the calls. Clients must return it unchanged. */
  readonly #sent = new Map<string, { readonly call: Readonly<Record<string, unknown>>; readonly details: unknown }>()

  /** The message with which the server would answer 400; undefined if it accepts the request. */
  complaint(request: Received): string | undefined {
    return firstBroken([...rules, ...this.#remembering], request)
  }

  /** Remembers what the server sends. */
  sent(_: Received, frames: readonly string[]): void {
    let details: unknown
    const calls: string[] = []
    const beside = new Map<string, Record<string, unknown>>()
    for (const event of eventsIn(frames)) {
      const [choice] = (Array.isArray(event['choices']) ? event['choices'] : []) as readonly {
        readonly delta?: Readonly<Record<string, unknown>>
      }[]
      const delta = choice?.delta ?? {}
      details = delta['reasoning_details'] ?? details
      for (const { index: _index, id, type: _type, function: _function, ...more } of (delta['tool_calls'] ??
        []) as readonly Readonly<Record<string, unknown>>[]) {
        if (typeof id === 'string' && id !== '') calls.push(id)
        const last = calls.at(-1)
        if (last !== undefined) beside.set(last, { ...beside.get(last), ...more })
      }
    }
    for (const id of calls) this.#sent.set(id, { call: beside.get(id) ?? {}, details })
  }

  readonly #remembering: readonly Rule<Body>[] = [
    {
      source: gemini,
      broken: ({ model, messages }) => {
        if (!/gemini-[3-9]/.test(model)) return undefined
        const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
        const first = turn.flatMap(({ tool_calls: calls = [] }) => calls.slice(0, 1))
        const unsigned = first.find((call) => signatureOf(call) === undefined)
        return (
          unsigned && `Function call ${unsigned.function.name} is missing a thought_signature in functionCall parts.`
        )
      },
    },
    {
      source: gemini,
      broken: ({ messages }) =>
        messages
          .flatMap(({ tool_calls: calls = [] }) => calls)
          .map((call) => {
            const sent = this.#sent.get(call.id)?.call ?? {}
            const lost = Object.keys(sent).find((name) => JSON.stringify(call[name]) !== JSON.stringify(sent[name]))
            return lost && `tool call ${call.id}: ${lost} is not as it was sent`
          })
          .find(Boolean),
    },
    {
      source: 'https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning-blocks',
      broken: ({ messages }) =>
        messages
          .map(({ tool_calls: [call] = [], reasoning_details: details }) => {
            const sent = call === undefined ? undefined : this.#sent.get(call.id)?.details
            return sent !== undefined && JSON.stringify(sent) !== JSON.stringify(details)
              ? `reasoning_details of ${call?.id ?? ''} are not as they were sent`
              : undefined
          })
          .find(Boolean),
    },
  ]
}

function signatureOf(call: Call): unknown {
  const { google } = (call['extra_content'] ?? {}) as { readonly google?: { readonly thought_signature?: string } }
  return google?.thought_signature
}

const rules: readonly Rule<Body>[] = [
  {
    source: openai,
    broken: ({ messages }) => {
      if (!Array.isArray(messages)) return "'messages' must be an array"
      const odd = (messages as Body['messages']).find(
        ({ role }) => !['system', 'user', 'assistant', 'tool'].includes(role),
      )
      return odd && `Invalid role: ${odd.role}`
    },
  },
  {
    source: 'https://github.com/ggml-org/llama.cpp/issues/13398',
    broken: ({ messages }) =>
      messages.some(({ role }, at) => role === 'system' && at > 0)
        ? 'System message must be at the beginning.'
        : undefined,
  },
  {
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md',
    broken: ({ messages }) =>
      messages.at(-1)?.role === 'assistant'
        ? 'Assistant response prefill is incompatible with enable_thinking.'
        : undefined,
  },
  {
    source: openai,
    broken: ({ messages }) => messages.map((message, at) => unpaired(message, messages, at)).find(Boolean),
  },
  {
    source: openai,
    broken: ({ messages }) => {
      const isEmpty = ({ role, content, tool_calls: calls = [] }: Message): boolean =>
        role === 'assistant' && calls.length === 0 && (content === null || content === undefined || content === '')
      return messages.some(isEmpty) ? "Expected 'content' or 'tool_calls' of an assistant message" : undefined
    },
  },
  {
    source: 'https://github.com/pydantic/pydantic-ai/issues/4389',
    broken: ({ model, messages }) => {
      const long = idsIn(messages).find((id) => isOpenAIs(model) && id.length > 40)
      return (
        long &&
        `Invalid 'messages[].tool_calls[].id': string too long. Expected a string with maximum length 40: ${long}`
      )
    },
  },
  {
    source: mistral,
    broken: ({ model, messages }) => {
      const odd = idsIn(messages).find((id) => isMistrals(model) && !/^[a-zA-Z0-9]{9}$/.test(id))
      return odd && `Tool call id was ${odd} but must be a-z, A-Z, 0-9, with a length of 9.`
    },
  },
  {
    source: mistral,
    broken: ({ model, messages }) =>
      isMistrals(model) && messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
        ? "Unexpected role 'user' after role 'tool'"
        : undefined,
  },
  {
    source: 'https://github.com/ggml-org/llama.cpp/blob/master/models/templates/google-gemma-2-2b-it.jinja',
    broken: ({ model, messages }) =>
      !isOpenAIs(model) && messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'user')
        ? 'Conversation roles must alternate user/assistant/user/assistant/...'
        : undefined,
  },
  {
    source: `${openai}#chat-create-messages`,
    broken: ({ messages }) => {
      const names = messages.flatMap(({ tool_calls: calls = [] }) => calls.map(({ function: { name } }) => name))
      const odd = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      return odd && `Invalid 'messages[].tool_calls[].function.name': string does not match pattern: ${odd}`
    },
  },
  {
    source: openai,
    broken: ({ model, tools = [] }) => {
      if (tools.length > 128) return `Invalid 'tools': array too long. Expected at most 128, got ${tools.length}.`
      const names = tools.map(({ function: { name } }) => name)
      const twice = firstTwice(names)
      if (twice !== undefined) return `tools: ${twice} is there twice`
      const odd = names.find((name) => !/^[a-zA-Z0-9_-]{1,64}$/.test(name))
      if (odd !== undefined) return `Invalid 'tools[].function.name': ${odd}`
      const rough = isOpenAIs(model)
        ? undefined
        : tools.map(({ function: { name, parameters } }) => ungrammatical(parameters, name)).find(Boolean)
      if (rough !== undefined) return rough
      return tools
        .map(({ function: { name, parameters } }) => {
          const words = unacceptable(parameters)
          return words && `Invalid schema for function '${name}': ${words}`
        })
        .find(Boolean)
    },
  },
  {
    source: openai,
    broken: ({ model, max_tokens: limit }) =>
      isOpenAIs(model) && limit !== undefined
        ? "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        : undefined,
  },
]

function idsIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ tool_calls: calls = [], tool_call_id: id }) => [
    ...calls.map((call) => call.id),
    ...(id === undefined ? [] : [id]),
  ])
}

function unpaired(message: Message, messages: readonly Message[], at: number): string | undefined {
  const calls = message.tool_calls ?? []
  const twice = firstTwice(calls.map(({ id }) => id))
  if (twice !== undefined) return `messages[${at}]: two calls with the id ${twice}`
  const answers = messages.slice(at + 1, at + 1 + calls.length)
  const open = calls.find(({ id }) => !answers.some(({ tool_call_id: answered }) => answered === id))
  if (open !== undefined)
    return `An assistant message with 'tool_calls' must be followed by tool messages. The following tool_call_ids did not have response messages: ${open.id}`
  const broken = calls.find((call) => !isJsonObject(call.function.arguments))
  if (broken !== undefined) return `arguments of ${broken.id} are not a JSON object`
  if (message.role !== 'tool') return undefined
  const asker = messages.slice(0, at).findLast(({ role }) => role !== 'tool')
  const isAsked = asker?.tool_calls?.some(({ id }) => id === message.tool_call_id) ?? false
  return isAsked ? undefined : "messages with role 'tool' must be a response to a preceding message with 'tool_calls'."
}

function isJsonObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    // The text is not JSON.
    return false
  }
}
