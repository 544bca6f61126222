import type { HistoryItem, ModelEvent } from '../core/model.ts'

/**
 * Makes the ids of a response's calls unique within the conversation. Some servers number calls from the start in each response, and a provider that
 * takes over later refuses two calls with the same id.
 */
export async function* withOwnIds(
  history: readonly HistoryItem[],
  events: AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  let taken: Set<string> | undefined
  for await (const event of events) {
    if (event.type !== 'tool_call') {
      // A retry discards the events of the failed attempt, so the ids of its calls can be used again.
      if (event.type === 'retry') taken = undefined
      yield event
      continue
    }
    taken ??= new Set(history.flatMap((item) => (item.type === 'tool_call' ? [item.call.id] : [])))
    const { call } = event
    let { id } = call
    for (let next = 2; taken.has(id); next++) id = `${call.id}_${next}`
    taken.add(id)
    yield id === call.id ? event : { ...event, call: { ...call, id } }
  }
}
