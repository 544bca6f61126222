import type { AgentReport } from './sub-agents.ts'

/** What an agent reports, as the model reads it that gave it work. */
export function describeReport({ id, ok, text }: AgentReport): string {
  return `${id} ${ok ? 'reports' : 'did not finish'}:\n${text === '' ? '(it said nothing)' : text}`
}
