import type { Assignment, SubAgents } from './sub-agents.ts'
import { describeReport } from './describe-report.ts'
import type { TaskWork } from '../tools/tasks/background-tasks.ts'

/** Assigns work to a sub-agent, which starts at once, and returns that work in the form of a background task. */
export function agentWork(agents: SubAgents, assignment: Assignment): TaskWork {
  const stopping = new AbortController()
  const id = agents.start(assignment, stopping.signal)
  const report = agents.wait(id)
  let said: string | undefined
  return {
    kind: 'agent',
    known: id,
    ended: report.then((given) => {
      said = given === undefined ? `${id} delivered no report.` : describeReport(given)
      return { ok: given?.ok === true, how: given?.ok === true ? `${id} delivered its report` : `${id} did not finish` }
    }),
    look: ({ maxTokens }) => {
      const output = said ?? `${id} is working, and will report when it has finished.`
      return Promise.resolve({
        ok: true,
        output,
        ...(maxTokens === undefined ? {} : { limit: { tokens: maxTokens, lines: maxTokens } }),
      })
    },
    stop: () => stopping.abort('interrupted'),
  }
}
