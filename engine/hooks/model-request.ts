import * as z from 'zod'
import type { HistoryItem, ModelRequest } from '../core/model.ts'

type Message = Extract<HistoryItem, { type: 'message' }>

/** A request as Gemini CLI shows it to hooks. Its messages contain no calls, results or images. */
type ShownRequest = {
  readonly model: string
  readonly messages: readonly { readonly role: 'system' | 'user' | 'model'; readonly content: string }[]
  readonly config: Readonly<Record<string, unknown>>
  readonly toolConfig: { readonly mode: 'AUTO'; readonly allowedFunctionNames: readonly string[] }
}

const roles = { user: 'user', developer: 'system', assistant: 'model' } as const
const ours = { user: 'user', system: 'developer', model: 'assistant' } as const

/** Converts a request to the form in which hooks see it. */
export function shownRequest(model: string, { instructions, history, tools, sampling }: ModelRequest): ShownRequest {
  const said = history.flatMap((item) => (item.type === 'message' ? [item] : []))
  return {
    model,
    messages: [
      { role: 'system', content: instructions },
      ...said.map(({ role, text }) => ({ role: roles[role], content: text })),
    ],
    config: { ...sampling },
    toolConfig: { mode: 'AUTO', allowedFunctionNames: tools.map(({ name }) => name) },
  }
}

const Wanted = z.strictObject({
  model: z.string().min(1).optional(),
  messages: z.array(z.strictObject({ role: z.enum(['system', 'user', 'model']), content: z.string() })).optional(),
  config: z
    .strictObject({
      temperature: z.number().min(0).optional(),
      topP: z.number().min(0).max(1).optional(),
      maxOutputTokens: z.int().positive().optional(),
    })
    .optional(),
  toolConfig: z
    .looseObject({
      mode: z.enum(['AUTO', 'ANY', 'NONE']).optional(),
      allowedFunctionNames: z.array(z.string()).optional(),
    })
    .optional(),
})

/** A request as a hook changed it, and the name of the model that the hook chose; undefined if the hook kept the model. */
type Rewritten = { readonly model: string | undefined; readonly request: ModelRequest }

/**
 * Applies a hook's changes to a request. A hook may reword messages and append new ones. It can't remove or move messages, because calls and their
 * results are between them.
 *
 * @returns the changed request, or why a change is impossible
 */
export function rewriteRequest(
  model: string,
  request: ModelRequest,
  wanted: Readonly<Record<string, unknown>>,
): Rewritten | { readonly problem: string } {
  const parsed = Wanted.safeParse(wanted)
  if (!parsed.success) return { problem: z.prettifyError(parsed.error).replaceAll('\n', ' ') }
  const { messages, config, toolConfig, model: name } = parsed.data
  const reworded = messages === undefined ? request : reword(model, request, messages)
  if ('problem' in reworded) return reworded
  const { mode, allowedFunctionNames: names } = toolConfig ?? {}
  const tools = mode === 'NONE' ? [] : reworded.tools.filter((tool) => names?.includes(tool.name) ?? true)
  const { temperature, topP, maxOutputTokens } = config ?? {}
  const sampling = {
    ...request.sampling,
    ...(temperature === undefined ? {} : { temperature }),
    ...(topP === undefined ? {} : { topP }),
    // The run may also limit the length of an answer. The lower of its limit and the hook's applies.
    ...(maxOutputTokens === undefined
      ? {}
      : { maxOutputTokens: Math.min(maxOutputTokens, request.sampling?.maxOutputTokens ?? Infinity) }),
  }
  return {
    model: name === model ? undefined : name,
    request: { ...reworded, tools, ...(Object.keys(sampling).length === 0 ? {} : { sampling }) },
  }
}

function reword(
  model: string,
  request: ModelRequest,
  wanted: NonNullable<z.infer<typeof Wanted>['messages']>,
): ModelRequest | { readonly problem: string } {
  const { messages: before } = shownRequest(model, request)
  const moved = before.findIndex(({ role }, at) => wanted[at]?.role !== role)
  if (moved !== -1)
    return { problem: `message ${moved} was removed or moved; a hook can only reword messages and append new ones` }
  const [system, ...said] = wanted
  const rest = said[Symbol.iterator]()
  const history = request.history.map((item): HistoryItem => {
    if (item.type !== 'message') return item
    const text = rest.next().value?.content ?? item.text
    return text === item.text ? item : { ...item, text }
  })
  const added = [...rest].map(({ role, content }): Message => ({ type: 'message', role: ours[role], text: content }))
  return { ...request, instructions: system?.content ?? request.instructions, history: [...history, ...added] }
}
