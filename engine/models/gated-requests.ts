import { createHash } from 'node:crypto'
import type { HistoryItem, ModelRequest, Usage } from '../core/model.ts'
import type { Account, RequestEnd, RequestGate } from '../core/request-gate.ts'
import type { Endpoint } from './endpoint.ts'
import { ProviderFailure } from './failure.ts'
import { rateLimitsIn } from './rate-headers.ts'
import type { WireEvent } from './wire.ts'

/** The number of tokens that an answer is assumed to have, until the first answer has arrived. */
const usualOutput = 500
const bytesPerToken = 3.6

/** Sends requests to one model. A gate must admit each request. */
export type GatedRequests = {
  /** Waits until the gate admits a request, sends the request, and reports its outcome to the gate. */
  readonly send: (
    request: ModelRequest,
    ask: () => AsyncIterable<WireEvent>,
    signal: AbortSignal,
  ) => AsyncGenerator<WireEvent>
  /** Reads the rate limits from an answer's headers. Must be called for every answer. `header` returns the value of the header with the given name. */
  readonly heard: (header: (name: string) => string | null) => void
}

/**
 * Wraps the sending of requests to one model, so that each request, including each retry, first waits until the gate admits it.
 *
 * @param countsCached whether input that was already in the provider's cache counts against the provider's limits
 */
export function gatedRequests(
  gate: RequestGate,
  endpoint: Pick<Endpoint, 'baseUrl' | 'headers'>,
  model: string,
  countsCached: boolean,
): GatedRequests {
  let account: Promise<Account> | undefined
  let known: Account | undefined
  // `factor` corrects the estimated size of the input, and `output` is the expected length of the answer. Both are adjusted after each answer.
  let [factor, output] = [1, usualOutput]
  const sizes = new WeakMap<object, number>()
  return {
    send: async function* (request, ask, signal) {
      known = await (account ??= accountOf(endpoint, model))
      const input = estimateInput(request, sizes)
      const { arrived, left } = await gate.enter(known, Math.ceil(input * factor + output), signal)
      let end: RequestEnd = { type: 'failed', kind: 'other', waitMs: undefined }
      let isFirst = true
      try {
        for await (const event of ask()) {
          if (isFirst) arrived()
          isFirst = false
          if (event.type === 'end') {
            end = { type: 'answered', tokens: counted(event.usage, countsCached) }
            if (input > 0) factor = between(0.2, (factor + event.usage.inputTokens / input) / 2, 3)
            output = (output + event.usage.outputTokens) / 2
          }
          yield event
        }
      } catch (error) {
        if (error instanceof ProviderFailure) end = failureOf(error)
        throw error
      } finally {
        left(end)
      }
    },
    heard: (header) => {
      const limits = rateLimitsIn(header)
      if (limits !== undefined && known !== undefined) gate.heard(known, limits)
    },
  }
}

function failureOf({ kind, waitMs }: ProviderFailure): RequestEnd {
  return { type: 'failed', kind: kind === 'quota' ? 'quota' : kind === 'rate-limit' ? 'limit' : 'other', waitMs }
}

function counted({ inputTokens, cachedInputTokens, outputTokens }: Usage, countsCached: boolean): number {
  return inputTokens + outputTokens - (countsCached ? 0 : cachedInputTokens)
}

/** Returns the account to which an endpoint's requests to a model belong. It contains only a hash of the key, from which nobody can recover the key. */
async function accountOf({ baseUrl, headers }: Pick<Endpoint, 'baseUrl' | 'headers'>, model: string): Promise<Account> {
  const { authorization = '', 'x-api-key': key = '' } = await headers()
  const hash = createHash('sha256').update(`${authorization}\n${key}`).digest('hex').slice(0, 16)
  return { provider: new URL(baseUrl).host, key: hash, model }
}

function estimateInput(request: ModelRequest, sizes: WeakMap<object, number>): number {
  const sizeOf = <T extends object>(thing: T, measure: (thing: T) => number): number => {
    const before = sizes.get(thing)
    if (before !== undefined) return before
    const size = measure(thing)
    sizes.set(thing, size)
    return size
  }
  const tools = sizeOf(request.tools, (all) => JSON.stringify(all).length)
  const history = request.history.reduce((sum, item) => sum + sizeOf(item, bytesOf), 0)
  return (request.instructions.length + tools + history) / bytesPerToken
}

function bytesOf(item: HistoryItem): number {
  switch (item.type) {
    case 'message':
      return Buffer.byteLength(item.text) + (item.images?.length ?? 0) * 5000
    case 'tool_result':
      return Buffer.byteLength(item.output) + (item.images?.length ?? 0) * 5000
    case 'tool_call':
      return Buffer.byteLength(item.call.input)
    case 'reasoning':
    case 'web_search':
      return item.opaque === undefined ? 200 : JSON.stringify(item.opaque).length
    default:
      return item satisfies never
  }
}

function between(least: number, value: number, most: number): number {
  return Math.min(most, Math.max(least, value))
}
