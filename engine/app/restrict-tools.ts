import type { HookCallback } from '../hooks/load-hooks.ts'

/** The tools that a client leaves to a run, by their names or those of Claude Code's corresponding tools. */
export type ToolRestriction = {
  /** The only tools; undefined: all. */
  readonly only: readonly string[] | undefined
  readonly without: readonly string[]
}

/** Tools that no client means when it says which tools are left: those of servers, and the one that delivers the result. */
const others = /^mcp__|^structured_output$/

/** Refuses the calls of tools that the client has taken away. Like all hooks, it sees calls in each form that they have. */
export function restrictTools({ only, without }: ToolRestriction): readonly HookCallback[] {
  if (only === undefined && without.length === 0) return []
  const isLeft = (name: string): boolean =>
    !without.includes(name) && (only === undefined || only.includes(name) || others.test(name))
  const ask: HookCallback['handler']['ask'] = ({ tool_name: name }) => {
    if (isLeft(String(name))) return Promise.resolve({})
    const permissionDecisionReason = `The tool ${String(name)} isn't available in this session.`
    const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason }
    return Promise.resolve({ hookSpecificOutput })
  }
  return [{ event: 'PreToolUse', matcher: undefined, handler: { type: 'callback', id: 'tools', ask } }]
}
