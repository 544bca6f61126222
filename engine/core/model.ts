import { shareInstanceof } from './share-instanceof.ts'

/** What a model produces besides messages. These items occur both in a response and in the conversation. */
type Made =
  /**
   * Data that only the provider understands: the model's reasoning, or an item of an unknown kind, whose `text` is empty. It is stored, and sent back
   * unchanged to the provider that made it.
   */
  | { readonly type: 'reasoning'; readonly text: string; readonly opaque?: unknown }
  | ({ readonly type: 'web_search' } & WebSearch)
  /** A call to a tool. `opaque`: the call's other fields, sent back unchanged to the provider that made them. */
  | { readonly type: 'tool_call'; readonly call: ToolCall; readonly opaque?: unknown }

/** One item of the conversation. The items are in chronological order. */
export type HistoryItem =
  | {
      readonly type: 'message'
      readonly role: 'user' | 'developer' | 'assistant'
      readonly text: string
      /** Images that are shown to the model with the text. Only user messages have images. Absent: none. */
      readonly images?: readonly Image[]
      /** The phase from the model's `message` event. It must be sent back, because models that set a phase perform worse without it. */
      readonly phase?: string
      /** Other fields of the model's `message` event. They are sent back unchanged to the provider that made them. */
      readonly opaque?: unknown
    }
  | Made
  | {
      readonly type: 'tool_result'
      readonly callId: string
      readonly output: string
      readonly ok: boolean
      /** Images that are shown to the model with the output. Absent: none. */
      readonly images?: readonly Image[]
    }

/** A web search or page visit by the model's provider. */
export type WebSearch = {
  /** The query or the address of the visited page, in one line. Empty if this was only an internal step of the provider. */
  readonly query: string
  readonly action: WebSearchAction
  /** The items as the provider sent them. They are stored, and sent back unchanged to the same provider. */
  readonly opaque?: unknown
}

/** What the provider did on the web, as Codex's events name it. */
export type WebSearchAction =
  | { readonly type: 'search'; readonly query?: string | undefined; readonly queries?: string[] | undefined }
  | { readonly type: 'open_page'; readonly url?: string | undefined }
  | { readonly type: 'find_in_page'; readonly url?: string | undefined; readonly pattern?: string | undefined }
  | { readonly type: 'other' }

/** How a provider may search the web for its model. */
export type WebSearchRequest = {
  /** `cached`: search only pages that the provider has stored. `live`: search the web as it is now. A provider may treat both alike. */
  readonly mode: 'cached' | 'live'
  /** If given, results may come only from these domains and their subdomains. Absent: from all domains. */
  readonly domains?: readonly string[]
}

/** An image for the model: a media type such as `image/png`, and the bytes in base64. */
export type Image = { readonly mediaType: string; readonly data: string }

/** A tool call. For a `function`, `input` is JSON text as the model wrote it, which may be invalid. For a `freeform` tool, it is plain text. */
export type ToolCall = {
  readonly id: string
  readonly name: string
  readonly kind: 'function' | 'freeform'
  readonly input: string
  /**
   * Set if the answer reached its length limit in the middle of the call. An incomplete call must not be carried out. Absent: the call is complete.
   */
  readonly cut?: true
}

/** A tool as described to the model. */
export type ToolDeclaration =
  | {
      readonly kind: 'function'
      readonly name: string
      readonly description: string
      /** JSON Schema of the input object. */
      readonly parameters: Readonly<Record<string, unknown>>
    }
  | {
      readonly kind: 'freeform'
      readonly name: string
      /** The description for providers that only support functions. */
      readonly description: string
      /** The description for providers that support tools whose input is plain text described by a grammar. */
      readonly freeformDescription: string
      readonly grammar: { readonly syntax: 'lark'; readonly definition: string }
      /** JSON Schema of the input object, for providers that only support functions. */
      readonly parameters: Readonly<Record<string, unknown>>
    }

export type ModelRequest = {
  /** Instructions that stay the same for the whole run, because providers cache requests by their beginning. */
  readonly instructions: string
  readonly tools: readonly ToolDeclaration[]
  readonly history: readonly HistoryItem[]
  /** The id by which a provider's prompt cache recognizes the conversation. */
  readonly threadId: string
  /** How much the model reasons before it answers. Absent: a default, which depends on `requestedBy`. */
  readonly reasoningEffort?: string
  /** How verbose the model's answers are. Absent: a default, which depends on `requestedBy`. */
  readonly verbosity?: 'low' | 'medium' | 'high'
  /** How fast the provider is to answer, and at what price; only for OpenAI's Responses API. Absent: the provider's default. */
  readonly serviceTier?: string
  /** Which defaults apply if effort or verbosity is absent. `agent`: those of the vendor's own coding agent. Absent: the provider's. */
  readonly requestedBy?: 'agent'
  /** How tokens are sampled, and the maximum number of tokens in an answer. Absent: the model's own defaults. Models may not support every setting. */
  readonly sampling?: { readonly temperature?: number; readonly topP?: number; readonly maxOutputTokens?: number }
  /** JSON Schema that the final message must match, enforced by the provider if `enforcesSchema` is true. */
  readonly outputSchema?: { readonly name: string; readonly schema: Readonly<Record<string, unknown>> }
  /** Lets the provider search the web, if `searchesWeb` is true. Absent: no web search. */
  readonly webSearch?: WebSearchRequest
}

export type Usage = {
  readonly inputTokens: number
  readonly cachedInputTokens: number
  readonly cacheWriteInputTokens: number
  readonly outputTokens: number
  readonly reasoningOutputTokens: number
  /** The number of searches by the provider that are billed separately. Absent: none. */
  readonly webSearches?: number | undefined
}

/** The events of a response, in order. `end` is last and comes exactly once; a stream that stops without it was interrupted. */
export type ModelEvent =
  /** A piece of text as it arrives, for display only. */
  | { readonly type: 'text_delta'; readonly text: string }
  /** A finished message. `phase` is the label that the model gave it, such as `commentary` or `final_answer`. */
  | { readonly type: 'message'; readonly text: string; readonly phase?: string; readonly opaque?: unknown }
  | Made
  /** The request failed in a way that allows another attempt, which is under way. Earlier events of this response are void. */
  | {
      readonly type: 'retry'
      readonly attempt: number
      readonly of: number
      readonly reason: string
      readonly waitMs: number
      /** The kind of the failure, if the same model is asked again. Absent: another model is asked instead. */
      readonly failure?: ModelFailure
      /** What the failed attempt used. Absent: it used nothing, or the provider didn't report its usage. */
      readonly spent?: Usage
    }
  /** The answer reached its length limit and is being continued; earlier events stay valid. */
  | { readonly type: 'cut'; readonly spent: Usage }
  /** Something about the provider that the user should know. */
  | { readonly type: 'notice'; readonly message: string }
  | { readonly type: 'end'; readonly usage: Usage }

/**
 * A language model. `respond` throws `ModelError` if it can't get an answer from the provider. To use a model of your own with `openAgent`:
 *
 * ```ts
 * const usage = { inputTokens: 0, cachedInputTokens: 0, cacheWriteInputTokens: 0, outputTokens: 0, reasoningOutputTokens: 0 }
 * const model: Model = {
 *   name: 'mine',
 *   async *respond({ history }, signal) {
 *     yield { type: 'message', text: `${history.length} items, and nothing to say` }
 *     yield { type: 'end', usage }
 *   },
 * }
 * ```
 */
export type Model = {
  /** The model's name as the user wrote it, e.g. `gpt-5.5` or `replay:demo.jsonl`. */
  readonly name: string
  /** Whether the provider enforces `outputSchema`. Absent: no. */
  readonly enforcesSchema?: boolean
  /** Whether the provider searches the web if a request allows it. Absent: no. */
  readonly searchesWeb?: boolean
  respond(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
}

/** Returns a model with another `respond`, but the given one's name and `enforcesSchema`. It lacks `searchesWeb`: check that before wrapping. */
export function wrapModel(model: Model, respond: Model['respond']): Model {
  return {
    // A getter, because with fallback models the name changes to that of the model that answers.
    get name() {
      return model.name
    },
    enforcesSchema: model.enforcesSchema === true,
    respond,
  }
}

/**
 * The kind of a provider's failure. `refused`: the request is at fault. `authentication`: the key is at fault. `quota`: the account's quota is used up.
 * `context-overflow`: the history is too long. `incomplete`: the answer reached its length limit too many times. `filtered`: the provider withheld the
 * answer. The other kinds may be temporary: a problem with the connection or the server, its rate limit, or a stream that was cut, idle or malformed.
 */
export type ModelFailure =
  | 'refused'
  | 'authentication'
  | 'quota'
  | 'context-overflow'
  | 'rate-limit'
  | 'server'
  | 'connection'
  | 'cut'
  | 'idle'
  | 'malformed'
  | 'incomplete'
  | 'filtered'

/**
 * Why a model gave no answer. `provider`: the provider failed or refused. `configuration`: the model can't be opened as configured. `replay`: a
 * tool's result differs from the recording, or the recording is used up. `budget`: the budget doesn't allow another request or a complete answer.
 *
 * @example
 * try {
 *   await openModel('gpt-5.5', { env: {}, cwd: process.cwd() })
 * } catch (error) {
 *   if (error instanceof ModelError) console.error(error.code) // configuration: there is no key
 * }
 */
export class ModelError extends Error {
  override readonly name = 'ModelError'
  readonly code: 'provider' | 'configuration' | 'replay' | 'budget'
  /** How the provider failed; undefined unless `code` is `provider`. */
  readonly failure: ModelFailure | undefined
  /** The HTTP status, if the failure was an HTTP error. */
  readonly status: number | undefined
  /** What the last attempt used; undefined if it used nothing or the provider didn't report its usage. */
  readonly spent: Usage | undefined

  constructor(
    code: ModelError['code'],
    message: string,
    options?: ErrorOptions & {
      readonly failure?: ModelFailure
      readonly status?: number | undefined
      readonly spent?: Usage | undefined
    },
  ) {
    super(message, options)
    this.code = code
    this.failure = options?.failure
    this.status = options?.status
    this.spent = options?.spent
  }
}

shareInstanceof('ModelError', ModelError)
