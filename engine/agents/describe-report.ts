import type { AgentReport } from './sub-agents.ts'

/** Formats an agent's report for the model that delegated the task. */
export function describeReport({ id, ok, text }: AgentReport): string {
  return `${id} ${ok ? 'reports' : 'did not finish'}:\n${text === '' ? '(it said nothing)' : text}`
}
