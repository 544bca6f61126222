import type { ToolContext } from './tool.ts'

/** Those that a run hands work to, as far as it matters whether they are at it. */
export type BackgroundAgents = {
  /** The ids of agents whose reports nobody has taken yet. */
  readonly unread: readonly string[]
}

/**
 * Sees to it that nothing goes on by itself where a run is about to change what it may do or where: commands and agents are a
 * reason against it, and the JavaScript session ends.
 *
 * @param wording what is said of commands and of agents that are at work
 * @returns the reason, in words for the model; undefined when nothing is at work any more
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
