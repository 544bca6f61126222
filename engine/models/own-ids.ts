import type { HistoryItem, ModelEvent } from '../core/model.ts'

/**
 * The events of a response, its calls under ids that the conversation doesn't have yet. Some servers number calls anew in each response, and
 * providers that the run goes on with later refuse two calls with one id.
 */
export async function* withOwnIds(
  history: readonly HistoryItem[],
  events: AsyncIterable<ModelEvent>,
): AsyncGenerator<ModelEvent> {
  let taken: Set<string> | undefined
  for await (const event of events) {
    if (event.type !== 'tool_call') {
      // What came before is void, its ids too.
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
