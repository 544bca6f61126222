import type { ToolContext } from './tool.ts'

/** What `requireIdle` needs to know about a run's sub-agents. */
export type BackgroundAgents = {
  /** The ids of agents whose reports haven't been read yet. */
  readonly unread: readonly string[]
}

/**
 * Makes sure that nothing runs in the background before a run changes where it works or what it may do. Running commands, and agents whose
 * reports haven't been read yet, prevent the change; the JavaScript session is closed.
 *
 * @param wording how the message describes these commands and agents
 * @returns why the change is not possible now, for the model; undefined if nothing is running any more
 */
export function requireIdle(
  agents: BackgroundAgents,
  { state }: ToolContext,
  wording: { readonly commands: string; readonly agents: string },
): string | undefined {
  const { ids } = state.sessions
  if (ids.length > 0) return `${wording.commands}: ${ids.join(', ')}. End them with kill_session first.`
  const { unread } = agents
  if (unread.length > 0) return `${wording.agents}: ${unread.join(', ')}. Collect their reports with wait_agents first.`
  state.repl.close()
  return undefined
}
