import { randomBytes } from 'node:crypto'
import type { CommandItem, Item, RunEvent, Sink } from '../core/events.ts'
import type { ModelRequest } from '../core/model.ts'
import { Chat, providerOf } from './chat-spans.ts'
import { describeCommand, isCall, resultOf, toolOf, type CallItem } from './call-spans.ts'
import { now } from './clock.ts'
import { Meters } from './meters.ts'
import type { TelemetryOptions } from './telemetry-options.ts'
import { shown, type Attributes, type Span } from './otlp.ts'

/** The maximum number of spans in the trace of a run. Viewers show no more than this, so further spans are only counted. */
const mostSpans = 20_000

/**
 * Represents a run as spans that are named according to the GenAI conventions (https://github.com/open-telemetry/semantic-conventions-genai): one
 * `invoke_agent` for the whole run, which contains a `chat` for each answer, an `execute_tool` for each call and a `guardian_review` for each review.
 * The `execute_tool` of a command contains a span for the command. This class only observes the run.
 */
export class RunTrace {
  readonly traceId: string
  /** The id of the run's own span. It is the parent of the spans of answers and calls, and of the spans that commands report themselves. */
  readonly spanId = newId(8)
  readonly #options: TelemetryOptions
  readonly #finished: (span: Span) => void
  readonly #started = now()
  readonly #open = new Map<string, bigint>()
  /**
   * The tool and the input of each call, by the call's id. They are kept because the items of commands and file changes don't contain the name of the
   * tool that was called.
   */
  readonly #calls = new Map<string, { readonly name: string; readonly input: string }>()
  readonly #meters = new Meters()
  #about: Attributes = {}
  #model = ''
  #prompt: string | undefined
  #spans = 0

  /** @param finished receives each span when it has ended, and the run's own span last */
  constructor(options: TelemetryOptions, finished: (span: Span) => void) {
    this.#options = options
    this.#finished = finished
    this.traceId = options.parent?.traceId ?? newId(16)
  }

  get startedAt(): bigint {
    return this.#started
  }

  get metrics(): ReturnType<Meters['metrics']> {
    return this.#meters.metrics()
  }

  readonly sink: Sink = { event: (event) => this.#event(event) }

  /** Starts the span of a request to a model; the span ends with the model's response. */
  chat(model: string, request: ModelRequest): Chat {
    const asked = request.history.findLast((item) => item.type === 'message' && item.role === 'user')
    if (asked?.type === 'message') this.#prompt ??= asked.text
    return new Chat(model, request.threadId, (ended) => {
      for (const { id, name, input } of ended.calls) this.#calls.set(id, { name, input })
      this.#meters.tokens(ended.usage.inputTokens, ended.usage.outputTokens, ended.series)
      this.#meters.add('gen_ai.client.operation.duration', seconds(ended.start, now()), ended.series)
      const content = this.#content({ 'gen_ai.output.messages': JSON.stringify(ended.said) })
      const { name, attributes, start, failed } = ended
      this.#finish(
        {
          name,
          kind: 'client',
          start,
          attributes: { ...attributes, ...content },
          ...(failed === undefined ? {} : { failed }),
        },
        this.spanId,
      )
    })
  }

  #event(event: RunEvent): void {
    switch (event.type) {
      case 'thread.started': {
        const { model, sandbox_mode, sandbox_backend, approval_policy, network } = event.config
        this.#model = model
        this.#about = {
          'gen_ai.conversation.id': event.thread_id,
          'gen_ai.request.model': model,
          'gen_ai.provider.name': providerOf(model),
          'portcullis.sandbox.mode': sandbox_mode,
          'portcullis.sandbox.backend': sandbox_backend,
          'portcullis.approval_policy': approval_policy,
          'portcullis.network': network,
        }
        return
      }
      case 'item.started':
        this.#open.set(event.item.id, now())
        return
      case 'item.completed':
        this.#item(event.item)
        return
      case 'turn.completed':
      case 'turn.failed':
        this.#end(event)
        return
      case 'turn.started':
      case 'item.updated':
      case 'error':
        return
      default:
        event satisfies never
    }
  }

  #item(item: Item): void {
    const start = this.#open.get(item.id)
    this.#open.delete(item.id)
    if (item.type === 'guardian_assessment') {
      const { reviewer, outcome, usage } = item
      const series = { 'gen_ai.operation.name': 'guardian_review' }
      if (usage !== undefined) this.#meters.tokens(usage.input_tokens, usage.output_tokens, series)
      const attributes = { 'portcullis.guardian.reviewer': reviewer, 'portcullis.guardian.outcome': outcome }
      this.#finish({ name: 'guardian_review', kind: 'internal', start: start ?? now(), attributes }, this.spanId)
    }
    if (isCall(item)) this.#call(item, start ?? now())
  }

  #call(item: CallItem, start: bigint): void {
    const called = this.#calls.get(item.call_id)
    const tool = toolOf(item, called?.name)
    const { verdict } = item
    if (verdict !== undefined) {
      const decided = { decision: verdict.decision, decided_by: verdict.decided_by }
      this.#meters.add('portcullis.guardian.decisions', 1, decided)
    }
    const isFailed = item.status === 'failed' || item.status === 'declined'
    const error = isFailed ? { 'error.type': item.status } : {}
    this.#meters.add('gen_ai.execute_tool.duration', seconds(start, now()), { 'gen_ai.tool.name': tool, ...error })
    const spanId = this.#finish(
      {
        name: `execute_tool ${tool}`,
        kind: 'internal',
        start,
        attributes: {
          'gen_ai.operation.name': 'execute_tool',
          'gen_ai.tool.name': tool,
          'gen_ai.tool.call.id': item.call_id,
          'gen_ai.tool.type': 'function',
          'portcullis.agent.id': item.agent_id,
          'portcullis.guardian.decision': verdict?.decision,
          'portcullis.guardian.decided_by': verdict?.decided_by,
          ...error,
          ...this.#content({
            'gen_ai.tool.call.arguments': called?.input,
            'gen_ai.tool.call.result': resultOf(item),
            'portcullis.guardian.reason': verdict?.reason,
          }),
        },
        ...(isFailed ? { failed: {} } : {}),
      },
      this.spanId,
    )
    if (item.type === 'command_execution' && item.status !== 'declined') this.#command(item, start, spanId)
  }

  #command(item: CommandItem, start: bigint, parent: string): void {
    const { name, attributes, isFailed } = describeCommand(item)
    const content = this.#content({ 'process.command_line': item.command })
    const failed = isFailed ? { failed: {} } : {}
    this.#finish({ name, kind: 'internal', start, attributes: { ...attributes, ...content }, ...failed }, parent)
  }

  #end(event: Extract<RunEvent, { readonly type: 'turn.completed' | 'turn.failed' }>): void {
    this.#meters.ended(event)
    const { usage } = event
    const failed = event.type === 'turn.failed' ? event : undefined
    const attributes = {
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'portcullis',
      ...this.#about,
      'gen_ai.usage.input_tokens': usage.input_tokens,
      'gen_ai.usage.output_tokens': usage.output_tokens,
      'gen_ai.usage.cache_read.input_tokens': usage.cached_input_tokens,
      'gen_ai.usage.cache_creation.input_tokens': usage.cache_write_input_tokens,
      'portcullis.cost_usd': event.cost_usd,
      'portcullis.result': event.result,
      'portcullis.denials': event.denied,
      'portcullis.audit_head': event.audit_head,
      'portcullis.spans.dropped': this.#spans > mostSpans ? this.#spans - mostSpans : undefined,
      ...(failed === undefined ? {} : { 'error.type': failed.reason }),
      ...this.#content({ 'gen_ai.input.messages': messages('user', this.#prompt) }),
    }
    const message = this.#content({ message: failed?.error.message })['message'] as string | undefined
    this.#spans = 0
    this.#finish(
      {
        name: this.#model === '' ? 'invoke_agent' : 'invoke_agent portcullis',
        kind: 'internal',
        start: this.#started,
        attributes,
        ...(failed === undefined ? {} : { failed: { message } }),
      },
      this.#options.parent?.spanId,
      this.spanId,
    )
  }

  #content(attributes: Attributes): Attributes {
    return this.#options.content ? attributes : {}
  }

  #finish(
    span: Omit<Span, 'traceId' | 'spanId' | 'parentSpanId' | 'end'>,
    parentSpanId: string | undefined,
    spanId: string = newId(8),
  ): string {
    this.#spans++
    if (this.#spans <= mostSpans) {
      const traceState = this.#options.parent?.state
      this.#finished({ ...span, traceId: this.traceId, spanId, parentSpanId, traceState, end: now() })
    }
    return spanId
  }
}

function messages(role: string, text: string | undefined): string | undefined {
  return text === undefined ? undefined : JSON.stringify([{ role, parts: [{ type: 'text', content: shown(text) }] }])
}

function seconds(start: bigint, end: bigint): number {
  return Number(end - start) / 1e9
}

function newId(bytes: number): string {
  return randomBytes(bytes).toString('hex')
}
