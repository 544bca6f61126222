import type { HistoryItem, Model, ModelEvent, ModelRequest } from '../model.ts'
import { noUsage, sumUsage } from '../usage.ts'
import type { Endpoint } from './endpoint.ts'
import type { Limits } from './options.ts'
import { readStream } from './read-stream.ts'
import { respondWithRetries } from './retry.ts'
import type { Wire, WireEvent } from './wire.ts'

/** A model behind a wire: with its timeouts, and its failures repeated as far as that makes sense. */
export function wireModel(name: string, wire: Wire, endpoint: Endpoint, limits: Limits): Model {
  return {
    name,
    enforcesSchema: wire.enforcesSchema,
    searchesWeb: wire.searchesWeb,
    respond: (request, signal) =>
      resumed(request, (part) => {
        const send = wire.prepare(part)
        return respondWithRetries(endpoint, () => wire.read(readStream(send, limits, signal)), limits, signal)
      }),
  }
}

/** How often a provider may pause in one response before it is taken to be done. */
const mostPauses = 16

/** One response, of as many requests as the provider pauses for. */
async function* resumed(
  request: ModelRequest,
  ask: (part: ModelRequest) => AsyncIterable<WireEvent>,
): AsyncGenerator<ModelEvent> {
  const before: Said[] = []
  let usage = noUsage
  for (let pauses = 0; ; pauses++) {
    let now: Said[] = []
    let paused = false
    for await (const event of ask({ ...request, history: [...request.history, ...before] })) {
      if (event.type === 'end') {
        usage = sumUsage(usage, event.usage)
        paused = 'paused' in event && pauses < mostPauses
        if (!paused) yield { type: 'end', usage }
        continue
      }
      yield event
      const item = itemOf(event)
      if (item !== undefined) now.push(item)
      if (event.type !== 'retry') continue
      // All that the response said is void, and what came before the pause is still true.
      now = []
      for (const item of before) yield eventOf(item)
    }
    if (!paused) return
    before.push(...now)
  }
}

type Said = Exclude<HistoryItem, { type: 'tool_result' }>

function itemOf(event: ModelEvent): Said | undefined {
  switch (event.type) {
    case 'message':
      return { ...event, role: 'assistant' }
    case 'reasoning':
    case 'web_search':
    case 'tool_call':
      return event
    case 'text_delta':
    case 'retry':
    case 'end':
      return undefined
    default:
      return event satisfies never
  }
}

function eventOf(item: Said): ModelEvent {
  if (item.type !== 'message') return item
  const { role: _, images: __, ...message } = item
  return message
}
