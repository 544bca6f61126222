import type { HistoryItem, Model, ModelEvent, ModelRequest } from '../model.ts'
import { noUsage } from '../usage.ts'
import type { Hooks } from './hooks.ts'

/** What the hooks around a model may do to the run. */
type Effects = {
  /** Ends the run, for a reason. */
  readonly stop: (reason: string) => void
  /** Only these tools may be called until this is said again; undefined: any. */
  readonly allow: (tools: readonly string[] | undefined) => void
}

/**
 * A model with Gemini's hooks around each request: `BeforeModel` may refuse it or answer in the model's place, `BeforeToolSelection` may leave
 * tools out, `AfterModel` reads what was said. A request is what it is: a hook that wants another one is refused.
 */
export function hookedModel(model: Model, hooks: Hooks, { stop, allow }: Effects): Model {
  if (!(['BeforeModel', 'BeforeToolSelection', 'AfterModel'] as const).some((event) => hooks.has(event))) return model
  return {
    ...model,
    async *respond(request, signal): AsyncIterable<ModelEvent> {
      const asked = { llm_request: shown(model, request) }
      const before = await hooks.fire('BeforeModel', asked)
      const refused =
        before.stop ?? (before.decision === 'deny' ? before.reason : undefined) ?? unchangeable(before.modelRequest)
      if (refused !== undefined) {
        stop(refused)
        return yield { type: 'end', usage: noUsage }
      }
      if (before.modelResponse !== undefined) {
        yield { type: 'message', text: textOf(before.modelResponse) }
        return yield { type: 'end', usage: noUsage }
      }
      const chosen = await hooks.fire('BeforeToolSelection', asked)
      const allowed = chosen.decision === 'deny' ? [] : chosen.allowedTools
      allow(allowed)
      const tools = allowed === undefined ? request.tools : request.tools.filter(({ name }) => allowed.includes(name))
      let said = ''
      for await (const event of model.respond({ ...request, tools }, signal)) {
        if (event.type === 'retry') said = ''
        if (event.type === 'message') said += event.text
        if (event.type === 'end') {
          const answer = { text: said, candidates: [{ content: { role: 'model', parts: [{ text: said }] } }] }
          const after = await hooks.fire('AfterModel', { ...asked, llm_response: answer })
          const minded = after.stop ?? (after.decision === 'deny' ? after.reason : undefined)
          if (minded !== undefined) stop(minded)
        }
        yield event
      }
    },
  }
}

function unchangeable(wanted: unknown): string | undefined {
  return wanted === undefined ? undefined : 'a BeforeModel hook wants to change the request, which is not possible here'
}

/** A request in Gemini's words: what was said, without the calls. */
function shown(model: Model, { instructions, history, tools }: ModelRequest): Readonly<Record<string, unknown>> {
  const messages = history.flatMap((item: HistoryItem) => {
    if (item.type !== 'message') return []
    return [
      { role: item.role === 'assistant' ? 'model' : item.role === 'user' ? 'user' : 'system', content: item.text },
    ]
  })
  const config = { tools: tools.map(({ name }) => name) }
  return { model: model.name, messages: [{ role: 'system', content: instructions }, ...messages], config }
}

/** The text of an answer in Gemini's format: its `text`, or the parts of its first candidate. */
function textOf(response: Readonly<Record<string, unknown>>): string {
  if (typeof response['text'] === 'string') return response['text']
  const [first] = (response['candidates'] ?? []) as readonly {
    readonly content?: { readonly parts?: readonly unknown[] }
  }[]
  const parts = first?.content?.parts ?? []
  return parts
    .map((part) => (typeof part === 'string' ? part : String((part as { text?: unknown }).text ?? '')))
    .join('')
}
