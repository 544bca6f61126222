import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { ModelEvent } from '../core/model.ts'
import { isWholeObject } from './as-function.ts'
import { addMore, moreOfCall, moreOfMessage } from './chat-message.ts'
import type { KeptChat, ReasoningField } from './chat-turns.ts'
import { chatUsage, readChatUsage } from './chat-usage.ts'
import { expectShape } from './expect-shape.ts'
import { judgeRefusal, malformedStream, ProviderFailure, unfinished } from './failure.ts'
import { ThinkTagReader } from './think-tags.ts'
import type { WireEvent } from './wire.ts'

const calledFunction = z.object({
  name: z.string().nullish(),
  // Some servers send an object, because they have already parsed the arguments.
  arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
})
const callPiece = z.looseObject({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: calledFunction.nullish(),
})
type CallPiece = z.infer<typeof callPiece>

/** A part of a message's content. Mistral's thinking models send a list of parts instead of a string. */
const contentPart = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  thinking: z.union([z.string(), z.array(z.looseObject({ text: z.string().optional() }))]).optional(),
})

const message = z.looseObject({
  content: z.union([z.string(), z.array(contentPart)]).nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(callPiece).nullish(),
  /** The predecessor of `tool_calls`, which old servers still send. */
  function_call: calledFunction.nullish(),
})

const chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: message.nullish(),
        message: message.nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: chatUsage,
})
type Chunk = z.infer<typeof chunk>

type OpenCall = {
  index: number | undefined
  id: string
  name: string
  input: string
  more: Record<string, unknown>
}

/**
 * Reads the chunks of one streamed completion (https://platform.openai.com/docs/api-reference/chat-streaming). Servers split calls into pieces in
 * different ways; a call is complete only when the choice has a finish reason. Throws `ProviderFailure` for a malformed or filtered completion,
 * and for one that ends with an error. Ends without an `end` event if the stream was interrupted.
 *
 * @param model the model that answers, as the request names it
 * @param tools the names of the tools in the request
 */
export async function* readChat(
  stream: AsyncIterable<unknown>,
  model: string,
  tools: readonly string[],
): AsyncGenerator<WireEvent> {
  const text = new ThinkTagReader()
  let reasoning: { field: ReasoningField; text: string } | undefined
  let thought = ''
  let inPieces = false
  const more: Record<string, unknown> = {}
  let finish: string | undefined
  let usage: Chunk['usage']
  const calls: OpenCall[] = []
  try {
    for await (const raw of stream) {
      const { choices, usage: counted } = expectShape('a chunk', chunk, raw)
      usage = counted ?? usage
      const [choice] = choices ?? []
      finish = choice?.finish_reason ?? finish
      inPieces ||= (choice?.delta ?? undefined) !== undefined
      // Some servers send the whole message in place of its pieces, and some at their end once more.
      const delta = choice?.delta ?? (inPieces ? undefined : choice?.message) ?? {}
      const content = partsOf(delta.content)
      const shown = text.add(`${content.said}${delta.refusal ?? ''}`)
      if (shown !== '') yield { type: 'text_delta', text: shown }
      thought += content.thought
      for (const field of ['reasoning_content', 'reasoning'] as const) {
        const piece = delta[field] ?? ''
        // A server that sends both `reasoning_content` and `reasoning` sends the same text in each.
        if (piece !== '' && (reasoning ??= { field, text: '' }).field === field) reasoning.text += piece
      }
      addMore(more, moreOfMessage(delta))
      for (const piece of delta.tool_calls ?? []) addPiece(piece, calls, tools)
      if (delta.function_call) addPiece({ function: delta.function_call }, calls, tools)
    }
  } catch (error) {
    // After the finish reason, only the token count is missing, and a count isn't worth another request.
    if (finish === undefined || !(error instanceof ProviderFailure)) throw error
  }
  if (finish === undefined) return
  if (finish.startsWith('content_filter')) throw unfinished('filtered', finish, readChatUsage(usage))
  if (finish === 'error') throw judgeRefusal({ words: 'the answer ended with an error' }, Date.now())
  const spoken = text.split()
  const all = `${reasoning?.text ?? ''}${thought}${spoken.thought}`
  const field = reasoning === undefined ? {} : { field: reasoning.field }
  const kept = { from: 'openai-chat', model, ...field, ...withMore(more) } satisfies KeptChat
  const isKept = 'field' in kept || 'more' in kept
  if (all !== '' || isKept) yield { type: 'reasoning', text: all, ...(isKept ? { opaque: kept } : {}) }
  if (spoken.said.trim() !== '') yield { type: 'message', text: spoken.said }
  const isCut = cutShort.test(finish)
  const made = calls.filter((call, at) => !isEcho(call, calls.slice(0, at)))
  for (const [at, call] of made.entries()) {
    yield finishedCall(call, model, isCut && at === made.length - 1 && !isWholeObject(call.input))
  }
  yield { type: 'end', usage: readChatUsage(usage), ...(isCut ? { limit: finish } : {}) }
}

/** Whether a chunk has the finish reason. */
export function hasFinished(raw: unknown): boolean {
  const { data } = chunk.safeParse(raw)
  return typeof data?.choices?.[0]?.finish_reason === 'string'
}

/**
 * The finish reasons of a response that was cut off at a length limit. They differ between servers, and Mistral has separate ones for its context
 * window and for the requested limit.
 */
const cutShort = /^(?:length|max_tokens|model_length|max_output_tokens)$/i

function withMore(more: Record<string, unknown>): { more?: Record<string, unknown> } {
  return Object.keys(more).length === 0 ? {} : { more }
}

type Content = NonNullable<NonNullable<NonNullable<Chunk['choices']>[number]['delta']>['content']>

function partsOf(content: Content | null | undefined): { readonly said: string; readonly thought: string } {
  if (!Array.isArray(content)) return { said: content ?? '', thought: '' }
  const thoughts = content.flatMap(({ thinking = '' }) =>
    typeof thinking === 'string' ? [thinking] : thinking.map(({ text = '' }) => text),
  )
  return { said: content.map(({ text = '' }) => text).join(''), thought: thoughts.join('') }
}

/** Whether a call is only the id and the name of an earlier one, which some servers repeat after the last arguments. */
function isEcho({ id, name, input }: OpenCall, earlier: readonly OpenCall[]): boolean {
  return input.trim() === '' && id !== '' && earlier.some((call) => call.id === id && call.name === name)
}

/** Adds a piece to the call that it belongs to, or starts a new call with it. */
function addPiece(piece: CallPiece, calls: OpenCall[], tools: readonly string[]): void {
  const id = piece.id ?? ''
  const name = cleanName(piece.function?.name ?? '')
  const args = piece.function?.arguments ?? ''
  const index = piece.index ?? undefined
  const byIndex = calls.findLast((call) => index !== undefined && call.index === index)
  const last = index === undefined ? calls.at(-1) : undefined
  const goesOn =
    last !== undefined && (name === '' || (name !== last.name && joinedName(last, id, name, tools) !== undefined))
  const found = byIndex ?? (goesOn ? last : undefined)
  const joined = found === undefined ? undefined : joinedName(found, id, name, tools)
  // Some servers give every call the index 0. A piece with a name starts another call if its id differs from the open call's. If either has no id,
  // the piece starts another call if the open call has a different name, or has a name and complete arguments. If they have the same id, it does if the
  // open call has the same name and complete arguments: then that call is being delivered again.
  const isOther =
    found !== undefined &&
    name !== '' &&
    joined === undefined &&
    (id !== '' && found.id !== ''
      ? found.id !== id || (found.name === name && isWhole(found.input))
      : found.name !== '' && (found.name !== name || isWhole(found.input)))
  let call = found
  if (call === undefined || isOther) {
    call = { index, id, name, input: '', more: {} }
    calls.push(call)
  }
  if (call.id === '') call.id = id
  if (call.name === '') call.name = name
  else if (call === found && joined !== undefined) call.name = joined
  call.input += typeof args === 'string' ? args : JSON.stringify(args)
  addMore(call.more, moreOfCall(piece))
}

/**
 * Returns the name of an open call after a piece that continues it; undefined if the piece starts another call. Some servers split names like arguments;
 * others repeat the name, or what they have of it so far, in each piece.
 */
function joinedName(open: OpenCall, id: string, name: string, tools: readonly string[]): string | undefined {
  const isOther = id !== '' && open.id !== '' && open.id !== id
  if (isOther || name === '' || open.name === '' || open.input !== '') return undefined
  const joined = `${open.name}${name}`
  const goesOn = tools.some((tool) => tool.startsWith(joined))
  const isTool = tools.includes(open.name)
  if (name.startsWith(open.name) && !goesOn && (name === open.name || !isTool)) return name
  if (tools.includes(name)) return undefined
  return goesOn || (open.id !== '' && !isTool) ? joined : undefined
}

/** Removes the markup that some models' formats leave around a tool's name, as in `functions.exec_command<|channel|>commentary`. */
function cleanName(name: string): string {
  return name
    .replace(/<\|[^]*$/, '')
    .replace(/^functions\./, '')
    .trim()
}

function isWhole(json: string): boolean {
  try {
    return typeof JSON.parse(json) === 'object'
  } catch {
    // A parse error means that the JSON is incomplete.
    return false
  }
}

function finishedCall(call: OpenCall, model: string, isCut: boolean): ModelEvent {
  if (call.name === '') throw malformedStream('a tool call without a name')
  // Some servers send no ids. An id that is made up here only has to be unique; it is sent back with the result.
  const id = call.id === '' ? `call_${randomUUID().replaceAll('-', '').slice(0, 24)}` : call.id
  const input = call.input.trim() === '' ? '{}' : call.input
  const kept = { from: 'openai-chat', model, ...withMore(call.more) } satisfies KeptChat
  return {
    type: 'tool_call',
    call: { id, name: call.name, kind: 'function', input, ...(isCut ? { cut: true } : {}) },
    ...('more' in kept ? { opaque: kept } : {}),
  }
}
