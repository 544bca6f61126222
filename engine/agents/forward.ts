import type { Item, RunEvent, Sink } from '../core/events.ts'
import type { RunContext } from '../tools/run-context.ts'

/**
 * Creates a sink that shows a sub-agent's items in the run's event stream, labelled with its id. The sub-agent's messages and reasoning are left out,
 * because they are meant for models and not for the reader of the stream.
 */
export function forwardTo(runContext: RunContext, id: string): Sink {
  const open = new Map<string, ReturnType<RunContext['open']>>()
  const shown = (item: Item): boolean => item.type !== 'agent_message' && item.type !== 'reasoning'
  return {
    tail: (own, read) => open.get(own)?.tail(read),
    event: (event: RunEvent) => {
      if (event.type === 'item.started' && shown(event.item)) {
        const { id: _, ...draft } = event.item
        open.set(event.item.id, runContext.open({ ...draft, agent_id: id }))
      }
      if (event.type === 'item.updated') {
        const { id: own, ...draft } = event.item
        open.get(own)?.update(draft)
      }
      if (event.type === 'item.completed' && shown(event.item)) {
        const { id: own, ...draft } = event.item
        const handle = open.get(own) ?? runContext.open({ ...draft, agent_id: id })
        open.delete(own)
        handle.complete(draft)
      }
    },
  }
}
