import { isDeepStrictEqual } from 'node:util'
import type { HistoryItem, ModelEvent, ToolCall } from '../core/model.ts'

/**
 * Makes the ids of a response's calls unique within the conversation. Some servers number calls from the start in each response, and a provider that
 * takes over later refuses two calls with the same id. A call that comes again within the response, with its id, name and arguments, was only delivered
 * twice, as some proxies do: it is left out.
 */
export async function* withOwnIds(
  history: readonly HistoryItem[],
  events: AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  let taken: Set<string> | undefined
  let came: ToolCall[] = []
  for await (const event of events) {
    if (event.type !== 'tool_call') {
      // A retry discards the events of the failed attempt, so the ids of its calls can be used again.
      if (event.type === 'retry') {
        taken = undefined
        came = []
      }
      yield event
      continue
    }
    if (came.some((before) => isSame(before, event.call))) continue
    came.push(event.call)
    taken ??= new Set(history.flatMap((item) => (item.type === 'tool_call' ? [item.call.id] : [])))
    const { call } = event
    let { id } = call
    for (let next = 2; taken.has(id); next++) id = `${call.id}_${next}`
    taken.add(id)
    yield id === call.id ? event : { ...event, call: { ...call, id } }
  }
}

function isSame(one: ToolCall, other: ToolCall): boolean {
  return one.id === other.id && one.name === other.name && isSameInput(one.input, other.input)
}

/** Whether two inputs are the same text or the same JSON value. */
function isSameInput(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return isDeepStrictEqual(JSON.parse(one), JSON.parse(other))
  } catch {
    // Texts that are not JSON are the same only if they are equal.
    return false
  }
}
