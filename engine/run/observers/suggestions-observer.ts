import type { ToolRegistry } from '../../tools/registry.ts'
import type { Conversation } from '../conversation.ts'
import type { Observer } from '../observer.ts'

/** Tells the model between turns about hidden tools that could help with its current work. */
export function suggestionsObserver(tools: ToolRegistry, conversation: Conversation): Observer {
  return {
    name: 'suggestions',
    afterResponse: ({ called }) => {
      if (called === 0) return undefined
      const said = conversation.items.findLast((item) => item.type === 'message' && item.role !== 'developer')
      const names = said?.type === 'message' ? tools.suggest(said.text) : []
      if (names.length === 0) return undefined
      const text = `Tools that may help: ${names.join(', ')}. tool_search with "select:${names.join(',')}" shows how to call them.`
      conversation.add({ type: 'message', role: 'developer', text })
      return undefined
    },
  }
}
