import { ModelError, type ModelEvent, type ToolCall, type Usage } from '../core/model.ts'
import { noUsage, sumUsage } from '../core/usage.ts'
import { now } from './clock.ts'
import { shown, type Attributes } from './otlp.ts'

/** The data of a model's answer, reported when the answer is complete or the request has failed. */
type EndedChat = {
  readonly name: string
  readonly start: bigint
  readonly attributes: Attributes
  /** The attributes of the answer's data points in the metrics. */
  readonly series: Attributes
  readonly failed?: { readonly message?: string }
  readonly usage: Usage
  readonly calls: readonly ToolCall[]
  /** The model's output, in the message format of OpenTelemetry's GenAI conventions. */
  readonly said: readonly object[]
}

/** A model's answer while it arrives, including all retries of its request. */
export class Chat {
  readonly #model: string
  readonly #threadId: string
  readonly #ended: (chat: EndedChat) => void
  readonly #start = now()
  #first: bigint | undefined
  #usage = noUsage
  #retries = 0
  #isWhole = false
  #error: unknown
  #calls: ToolCall[] = []
  #texts: string[] = []

  constructor(model: string, threadId: string, ended: (chat: EndedChat) => void) {
    this.#model = model
    this.#threadId = threadId
    this.#ended = ended
  }

  see(event: ModelEvent): void {
    this.#first ??= now()
    switch (event.type) {
      case 'message':
        this.#texts.push(event.text)
        return
      case 'tool_call':
        this.#calls.push(event.call)
        return
      case 'retry':
        // A retry invalidates the earlier events, but their tokens were paid for.
        this.#retries++
        this.#usage = sumUsage(this.#usage, event.spent ?? noUsage)
        this.#texts = []
        this.#calls = []
        return
      case 'cut':
        this.#usage = sumUsage(this.#usage, event.spent)
        return
      case 'end':
        this.#isWhole = true
        this.#usage = sumUsage(this.#usage, event.usage)
        return
      case 'text_delta':
      case 'reasoning':
      case 'web_search':
      case 'notice':
        return
      default:
        event satisfies never
    }
  }

  fail(error: unknown): void {
    this.#error = error
    if (error instanceof ModelError) this.#usage = sumUsage(this.#usage, error.spent ?? noUsage)
  }

  /** Reports the answer once, however the request ended. */
  end(): void {
    const errorType = this.#errorType()
    const reason = this.#calls.length > 0 ? 'tool_calls' : 'stop'
    const common = {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(this.#model),
      'gen_ai.request.model': this.#model,
      'error.type': errorType,
    }
    const usage = this.#usage
    this.#ended({
      name: `chat ${this.#model}`,
      start: this.#start,
      series: common,
      attributes: {
        ...common,
        'gen_ai.conversation.id': this.#threadId,
        'gen_ai.response.finish_reasons': [errorType === undefined ? reason : 'error'],
        'gen_ai.response.time_to_first_chunk':
          this.#first === undefined ? undefined : Number(this.#first - this.#start) / 1e9,
        'gen_ai.usage.input_tokens': usage.inputTokens,
        'gen_ai.usage.output_tokens': usage.outputTokens,
        'gen_ai.usage.cache_read.input_tokens': usage.cachedInputTokens,
        'gen_ai.usage.cache_creation.input_tokens': usage.cacheWriteInputTokens,
        'portcullis.retries': this.#retries === 0 ? undefined : this.#retries,
      },
      ...(errorType === undefined ? {} : { failed: {} }),
      usage,
      calls: this.#calls,
      said: [
        {
          role: 'assistant',
          parts: [
            ...this.#texts.map((content) => ({ type: 'text', content: shown(content) })),
            ...this.#calls.map(({ id, name, input }) => ({
              type: 'tool_call',
              id,
              name: shown(name),
              arguments: shown(input),
            })),
          ],
          finish_reason: reason,
        },
      ],
    })
  }

  #errorType(): string | undefined {
    if (this.#isWhole) return undefined
    if (this.#error instanceof ModelError) return this.#error.failure ?? this.#error.code
    return this.#error === undefined ? 'cancelled' : 'error'
  }
}

/** Derives the provider's name, as OpenTelemetry's GenAI conventions spell it, from the name of the model. */
export function providerOf(model: string): string {
  const slash = model.indexOf('/')
  if (slash > 0) return model.slice(0, slash)
  if (model.startsWith('replay:')) return 'replay'
  return model.startsWith('claude-') ? 'anthropic' : 'openai'
}
