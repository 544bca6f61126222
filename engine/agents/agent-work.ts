import type { Assignment, SubAgents } from './sub-agents.ts'
import { describeReport } from './describe-report.ts'
import type { TaskWork } from '../tools/tasks/background-tasks.ts'

/** Hands a piece of work to an agent as the work of a task. */
export function agentWork(agents: SubAgents, assignment: Assignment): TaskWork {
  const stopping = new AbortController()
  const id = agents.start(assignment, stopping.signal)
  const report = agents.wait(id)
  let said: string | undefined
  return {
    kind: 'agent',
    known: id,
    ended: report.then((given) => {
      said = given === undefined ? `${id} gave no report.` : describeReport(given)
      return { ok: given?.ok === true, how: given?.ok === true ? `${id} gave its report` : `${id} did not finish` }
    }),
    look: ({ maxTokens }) => {
      const output = said ?? `${id} is at work, and reports when it has finished.`
      return Promise.resolve({
        ok: true,
        output,
        ...(maxTokens === undefined ? {} : { limit: { tokens: maxTokens, lines: maxTokens } }),
      })
    },
    stop: () => stopping.abort('interrupted'),
  }
}
