import type { Observer, Verdict } from '../observer.ts'
import { reportTasks } from '../report-tasks.ts'
import { waitForAgents, type BesideWork } from '../wait-for-agents.ts'

/**
 * Tells the model the outcomes of background tasks. When the model is about to finish, waits for the agents that still work and gives it their reports, because
 * it delegated that work and can't have what it was for. Commands may never end, so the model is only told, once, which of them would be stopped.
 */
export function tasksObserver(work: BesideWork): Observer {
  const finish = async (): Promise<Verdict | undefined> => {
    const reports = await waitForAgents(work)
    for (const text of reports) work.conversation.add({ type: 'message', role: 'developer', text })
    const told = reportTasks(work.state, work.conversation, true)
    return told || reports.length > 0 ? { type: 'ask' } : undefined
  }
  return {
    name: 'tasks',
    afterResponse: ({ called }) => {
      if (called === 0) return finish()
      reportTasks(work.state, work.conversation, false)
      return undefined
    },
    // A model can also end its run with a call.
    beforeEnd: finish,
  }
}
