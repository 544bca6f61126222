/** A sub-agent's report about its work. `ok` is false if the sub-agent didn't finish. */
export type AgentReport = { readonly id: string; readonly ok: boolean; readonly text: string }

/** Formats an agent's report for the model that delegated the task. */
export function describeReport({ id, ok, text }: AgentReport): string {
  return `${id} ${ok ? 'reports' : 'did not finish'}:\n${text === '' ? '(it said nothing)' : text}`
}
