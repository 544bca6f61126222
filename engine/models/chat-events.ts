import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { ModelEvent, Usage } from '../core/model.ts'
import { isWholeObject } from './as-function.ts'
import { addMore, moreOfCall, moreOfMessage } from './chat-message.ts'
import type { KeptChat, ReasoningField } from './chat-turns.ts'
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

const chunk = z.object({
  choices: z
    .array(
      z.object({
        delta: z
          .looseObject({
            content: z.union([z.string(), z.array(contentPart)]).nullish(),
            refusal: z.string().nullish(),
            reasoning_content: z.string().nullish(),
            reasoning: z.string().nullish(),
            tool_calls: z.array(callPiece).nullish(),
            /** The predecessor of `tool_calls`, which old servers still send. */
            function_call: calledFunction.nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
      }),
    )
    .nullish(),
  usage: z
    .object({
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      prompt_tokens_details: z.object({ cached_tokens: z.number().nullish() }).nullish(),
      completion_tokens_details: z.object({ reasoning_tokens: z.number().nullish() }).nullish(),
    })
    .nullish(),
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
 */
export async function* readChat(stream: AsyncIterable<unknown>, model: string): AsyncGenerator<WireEvent> {
  const text = new ThinkTagReader()
  let reasoning: { field: ReasoningField; text: string } | undefined
  let thought = ''
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
      const delta = choice?.delta ?? {}
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
      for (const piece of delta.tool_calls ?? []) addPiece(piece, calls)
      if (delta.function_call) addPiece({ function: delta.function_call }, calls)
    }
  } catch (error) {
    // After the finish reason, only the token count is missing, and a count isn't worth another request.
    if (finish === undefined || !(error instanceof ProviderFailure)) throw error
  }
  if (finish === undefined) return
  if (finish.startsWith('content_filter')) throw unfinished('filtered', finish, readUsage(usage))
  if (finish === 'error') throw judgeRefusal({ words: 'the answer ended with an error' }, Date.now())
  const spoken = text.split()
  const all = `${reasoning?.text ?? ''}${thought}${spoken.thought}`
  const field = reasoning === undefined ? {} : { field: reasoning.field }
  const kept = { from: 'openai-chat', model, ...field, ...withMore(more) } satisfies KeptChat
  const isKept = 'field' in kept || 'more' in kept
  if (all !== '' || isKept) yield { type: 'reasoning', text: all, ...(isKept ? { opaque: kept } : {}) }
  if (spoken.said.trim() !== '') yield { type: 'message', text: spoken.said }
  const isCut = cutShort.test(finish)
  for (const [at, call] of inOneResponse(calls).entries()) {
    yield finishedCall(call, model, isCut && at === calls.length - 1 && !isWholeObject(call.input))
  }
  yield { type: 'end', usage: readUsage(usage), ...(isCut ? { limit: finish } : {}) }
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

/** Makes the ids of calls unique within a response. Results are matched with calls by id, but some servers use the same id twice. */
function inOneResponse(calls: readonly OpenCall[]): readonly OpenCall[] {
  const taken = new Set<string>()
  return calls.map((call) => {
    const isTaken = taken.has(call.id)
    taken.add(call.id)
    return isTaken ? { ...call, id: '' } : call
  })
}

/** Adds a piece to the call that it belongs to, or starts a new call with it. */
function addPiece(piece: CallPiece, calls: OpenCall[]): void {
  const id = piece.id ?? ''
  const name = cleanName(piece.function?.name ?? '')
  const index = piece.index ?? undefined
  const byIndex = calls.findLast((call) => index !== undefined && call.index === index)
  const found = byIndex ?? (index === undefined && name === '' ? calls.at(-1) : undefined)
  // Some servers give every call the index 0. A piece with a name starts another call if its id differs from the open call's. If either has no id,
  // the piece starts another call if the open call has a different name, or has a name and complete arguments.
  const isOther =
    found !== undefined &&
    name !== '' &&
    (id !== '' && found.id !== ''
      ? found.id !== id
      : found.name !== '' && (found.name !== name || isWhole(found.input)))
  let call = found
  if (call === undefined || isOther) {
    call = { index, id, name, input: '', more: {} }
    calls.push(call)
  }
  if (call.id === '') call.id = id
  if (call.name === '') call.name = name
  const args = piece.function?.arguments ?? ''
  call.input += typeof args === 'string' ? args : JSON.stringify(args)
  addMore(call.more, moreOfCall(piece))
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

function readUsage(usage: Chunk['usage']): Usage {
  return {
    inputTokens: usage?.prompt_tokens ?? 0,
    cachedInputTokens: usage?.prompt_tokens_details?.cached_tokens ?? 0,
    cacheWriteInputTokens: 0,
    outputTokens: usage?.completion_tokens ?? 0,
    reasoningOutputTokens: usage?.completion_tokens_details?.reasoning_tokens ?? 0,
  }
}
