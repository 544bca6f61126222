import type { Model, ModelEvent, ModelRequest, Usage } from '../core/model.ts'
import { noUsage } from '../core/usage.ts'
import type { HookOutcome } from './combine-answers.ts'
import type { Hooks } from './hooks.ts'
import { rewriteRequest, shownRequest } from './model-request.ts'

/** The functions through which hooks on model requests affect the run. */
type Effects = {
  /** Ends the run for the given reason. */
  readonly stop: (reason: string) => void
  /** Makes the run refuse a call for the given reason. */
  readonly refuse: (callId: string, reason: string) => void
  /** Opens a model by its name. If that fails, it rejects with an error whose message is a complete sentence. */
  readonly openModel: (name: string) => Promise<Model>
}

/** A request after the `BeforeModel` hooks, and the model that gets it. */
type Asking = {
  readonly asked: Readonly<Record<string, unknown>>
  readonly model: Model
  readonly request: ModelRequest
}

/**
 * Wraps a model so that each request calls the hooks for Gemini CLI's events. `BeforeModel` may refuse the request, change it (another model, other
 * messages, sampling settings, fewer tools) or answer it in the model's place. `BeforeToolSelection` may remove tools. `AfterModel` reads the text
 * of the answer before anything else does, and may change that text or withhold the whole answer, including its calls.
 */
export function hookedModel(model: Model, hooks: Hooks, { stop, refuse, openModel }: Effects): Model {
  if (!(['BeforeModel', 'BeforeToolSelection', 'AfterModel'] as const).some((event) => hooks.has(event))) return model
  const others = new Map<string, Promise<Model>>()
  let answering = model

  async function ask(request: ModelRequest, before: HookOutcome): Promise<Asking | { readonly refused: string }> {
    const asked = { llm_request: shownRequest(model.name, request) }
    if (before.stop !== undefined) return { refused: before.stop }
    if (before.decision === 'deny') return { refused: before.reason ?? 'a BeforeModel hook refused the request' }
    if (before.modelRequest === undefined) return { asked, model, request }
    const wanted = rewriteRequest(model.name, request, before.modelRequest)
    if ('problem' in wanted)
      return { refused: `a BeforeModel hook asked for a request that can't be sent: ${wanted.problem}` }
    const { model: name, request: changed } = wanted
    if (name === undefined)
      return { asked: { llm_request: shownRequest(model.name, changed) }, model, request: changed }
    if (!others.has(name)) others.set(name, openModel(name))
    try {
      const other = (await others.get(name)) ?? model
      return { asked: { llm_request: shownRequest(other.name, changed) }, model: other, request: changed }
    } catch (error) {
      return { refused: `a BeforeModel hook asked for the model ${name}: ${(error as Error).message}` }
    }
  }

  /** Runs the `AfterModel` hooks on a complete answer, and yields the answer as they left it. */
  async function* review(
    answer: readonly ModelEvent[],
    usage: Usage,
    asked: Asking['asked'],
  ): AsyncIterable<ModelEvent> {
    const said = answer.flatMap((event) => (event.type === 'message' ? [event.text] : [])).join('')
    const after = await hooks.fire('AfterModel', { ...asked, llm_response: shownResponse(said, usage) })
    const minded =
      after.stop ?? (after.decision === 'deny' ? (after.reason ?? 'an AfterModel hook refused the answer') : undefined)
    if (minded !== undefined) return stop(minded)
    const instead = after.modelResponse === undefined ? said : textOf(after.modelResponse)
    if (instead === said) return yield* answer
    yield* answer.filter(({ type }) => type === 'reasoning')
    if (instead !== '') yield { type: 'message', text: instead }
    yield* answer.filter(({ type }) => type === 'tool_call')
  }

  return {
    ...model,
    // Costs are computed from this name, so it must be the name of the model that answers.
    get name() {
      return answering.name
    },
    async *respond(request, signal): AsyncIterable<ModelEvent> {
      answering = model
      const before = await hooks.fire('BeforeModel', { llm_request: shownRequest(model.name, request) })
      const asking = await ask(request, before)
      if ('refused' in asking) {
        stop(asking.refused)
        return yield { type: 'end', usage: noUsage }
      }
      if (before.modelResponse !== undefined) {
        yield { type: 'message', text: textOf(before.modelResponse) }
        return yield { type: 'end', usage: noUsage }
      }
      const { asked } = asking
      answering = asking.model
      const chosen = await hooks.fire('BeforeToolSelection', asked)
      const allowed = chosen.decision === 'deny' ? [] : chosen.allowedTools
      const tools = asking.request.tools.filter(({ name }) => allowed?.includes(name) ?? true)
      const offered = tools.map(({ name }) => name)
      const narrowed = tools.length < request.tools.length
      const holds = hooks.has('AfterModel')
      let held: ModelEvent[] = []
      const { webSearch, ...rest } = asking.request
      const search = webSearch === undefined || allowed?.includes('web_search') === false ? {} : { webSearch }
      for await (const event of asking.model.respond({ ...rest, ...search, tools }, signal)) {
        if (event.type === 'tool_call' && narrowed && !offered.includes(event.call.name))
          refuse(event.call.id, `a hook allows only these tools: ${offered.join(', ') || 'none'}.`)
        if (event.type === 'retry') held = []
        if (event.type === 'end' && holds) yield* review(held, event.usage, asked)
        // If there are `AfterModel` hooks, the answer is held back until they have read it: its text isn't shown, and its calls don't start.
        if (!holds || isAside(event)) yield event
        else if (event.type !== 'text_delta') held.push(event)
      }
    },
  }
}

/** Whether an event has no content that a hook could withhold. */
function isAside({ type }: ModelEvent): boolean {
  return type === 'retry' || type === 'cut' || type === 'notice' || type === 'end'
}

/** Returns an answer in Gemini's format, with an additional field `text` for scripts that need nothing else. */
function shownResponse(text: string, { inputTokens, outputTokens }: Usage): Readonly<Record<string, unknown>> {
  return {
    text,
    candidates: [{ content: { role: 'model', parts: [text] }, finishReason: 'STOP' }],
    usageMetadata: { totalTokenCount: inputTokens + outputTokens },
  }
}

/** Returns the text of an answer in Gemini's format: the parts of its first candidate, or its `text` if there are none. */
function textOf(response: Readonly<Record<string, unknown>>): string {
  const [first] = (response['candidates'] ?? []) as readonly {
    readonly content?: { readonly parts?: readonly unknown[] }
  }[]
  const parts = first?.content?.parts
  if (parts === undefined) return typeof response['text'] === 'string' ? response['text'] : ''
  return parts
    .map((part) => (typeof part === 'string' ? part : String((part as { text?: unknown }).text ?? '')))
    .join('')
}
