import { randomUUID } from 'node:crypto'
import * as z from 'zod'
import type { ModelEvent, Usage } from '../model.ts'
import type { ReasoningField } from './chat-request.ts'
import { expectShape } from './expect-shape.ts'
import { malformedStream, ProviderFailure, unfinished } from './failure.ts'

const callPiece = z.object({
  index: z.number().nullish(),
  id: z.string().nullish(),
  function: z
    .object({
      name: z.string().nullish(),
      // An object is what some servers send who have parsed it already.
      arguments: z.union([z.string(), z.record(z.string(), z.unknown())]).nullish(),
    })
    .nullish(),
})
type CallPiece = z.infer<typeof callPiece>

const chunk = z.object({
  choices: z.array(
    z.object({
      delta: z
        .object({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          reasoning_content: z.string().nullish(),
          reasoning: z.string().nullish(),
          tool_calls: z.array(callPiece).nullish(),
        })
        .nullish(),
      finish_reason: z.string().nullish(),
    }),
  ),
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

type OpenCall = { index: number | undefined; id: string; name: string; input: string }

/**
 * Reads the chunks of one streamed completion (https://platform.openai.com/docs/api-reference/chat-streaming). Calls
 * come in pieces, in ways that differ between servers, and are complete only when the choice has its finish reason.
 *
 * Throws `ProviderFailure` for a malformed, truncated or filtered completion; ends without `end` where it was cut.
 */
export async function* readChat(stream: AsyncIterable<unknown>): AsyncGenerator<ModelEvent> {
  let text = ''
  let reasoning: { field: ReasoningField; text: string } | undefined
  let finish: string | undefined
  let usage: Chunk['usage']
  const calls: OpenCall[] = []
  try {
    for await (const raw of stream) {
      const { choices, usage: counted } = expectShape('a chunk', chunk, raw)
      usage = counted ?? usage
      const [choice] = choices
      finish = choice?.finish_reason ?? finish
      const delta = choice?.delta
      const said = `${delta?.content ?? ''}${delta?.refusal ?? ''}`
      if (said !== '') yield { type: 'text_delta', text: said }
      text += said
      for (const field of ['reasoning_content', 'reasoning'] as const) {
        const thought = delta?.[field] ?? ''
        // A server that sends both says the same thing twice.
        if (thought !== '' && (reasoning ??= { field, text: '' }).field === field) reasoning.text += thought
      }
      for (const piece of delta?.tool_calls ?? []) addPiece(piece, calls)
    }
  } catch (error) {
    // Only the count is still to come after the finish reason: not worth asking everything again.
    if (finish === undefined || !(error instanceof ProviderFailure)) throw error
  }
  if (finish === undefined) return
  if (finish === 'length') throw unfinished('incomplete', finish, readUsage(usage))
  if (finish === 'content_filter') throw unfinished('filtered', finish, readUsage(usage))
  if (reasoning !== undefined) {
    yield { type: 'reasoning', text: reasoning.text, opaque: { from: 'openai-chat', field: reasoning.field } }
  }
  if (text !== '') yield { type: 'message', text }
  for (const call of calls) yield finishedCall(call)
  yield { type: 'end', usage: readUsage(usage) }
}

/** Adds a piece to the call it belongs to, or opens a new one. */
function addPiece(piece: CallPiece, calls: OpenCall[]): void {
  const id = piece.id ?? ''
  const name = piece.function?.name ?? ''
  const index = piece.index ?? undefined
  const byIndex = calls.findLast((call) => index !== undefined && call.index === index)
  const found = byIndex ?? (index === undefined && name === '' ? calls.at(-1) : undefined)
  // Some servers give every call index 0: another id with a name is another call.
  const isOther = found !== undefined && name !== '' && id !== '' && found.id !== '' && found.id !== id
  let call = found
  if (call === undefined || isOther) {
    call = { index, id, name, input: '' }
    calls.push(call)
  }
  if (call.id === '') call.id = id
  if (call.name === '') call.name = name
  const args = piece.function?.arguments ?? ''
  call.input += typeof args === 'string' ? args : JSON.stringify(args)
}

function finishedCall(call: OpenCall): ModelEvent {
  if (call.name === '') throw malformedStream('a tool call without a name')
  // Servers without ids exist; ours only has to be unique and go back with the result.
  const id = call.id === '' ? `call_${randomUUID().replaceAll('-', '').slice(0, 24)}` : call.id
  const input = call.input.trim() === '' ? '{}' : call.input
  return { type: 'tool_call', call: { id, name: call.name, kind: 'function', input } }
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
