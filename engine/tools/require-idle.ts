import type { ToolContext } from './tool.ts'

/** The sub-agents of a run, as far as it matters whether they are working. */
export type BackgroundAgents = {
  /** The ids of agents whose reports haven't been read yet. */
  readonly unread: readonly string[]
}

/**
 * Makes sure that nothing runs in the background when a run is about to change what or where it may act: running commands and agents
 * prevent it, and the JavaScript session ends.
 *
 * @param wording what to say about running commands and agents
 * @returns the reason against it, in words for the model; undefined when nothing runs any more
 */
export function requireIdle(
  agents: BackgroundAgents,
  { state }: ToolContext,
  wording: { readonly commands: string; readonly agents: string },
): string | undefined {
  const { ids } = state.sessions
  if (ids.length > 0) return `${wording.commands}: ${ids.join(', ')}. End them with kill_session first.`
  const { unread } = agents
  if (unread.length > 0) return `${wording.agents}: ${unread.join(', ')}. Take their reports with wait_agents first.`
  state.repl.close()
  return undefined
}
