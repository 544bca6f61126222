import type { Conversation } from '../conversation.ts'
import type { Observer } from '../observer.ts'

/**
 * Between turns, gives the model texts that were not available when the run began, such as the instructions of a server that started late. Texts that the
 * conversation already contains, perhaps from an earlier run of the session, aren't repeated.
 */
export function lateContextObserver(late: () => readonly string[], conversation: Conversation): Observer {
  return {
    name: 'late context',
    afterResponse: ({ called }) => {
      if (called === 0) return undefined
      const told = new Set(
        conversation.items.flatMap((item) => (item.type === 'message' && item.role === 'developer' ? [item.text] : [])),
      )
      for (const text of late().filter((one) => !told.has(one))) {
        conversation.add({ type: 'message', role: 'developer', text })
      }
      return undefined
    },
  }
}
