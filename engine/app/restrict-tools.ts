import type { HookCallback } from '../hooks/load-hooks.ts'
import type { Tool } from '../tools/tool.ts'

/** The tools that a client leaves to a run, by their names or those of Claude Code's corresponding tools. */
export type ToolRestriction = {
  /** The only tools; undefined: all. */
  readonly only: readonly string[] | undefined
  readonly without: readonly string[]
}

/** Tools that no client means when it says which tools are left: those of servers, and the one that delivers the result. */
const others = /^mcp__|^structured_output$/

/** The tools that are offered to the model: those with a name that is left. What another name of them means is refused when they are called. */
export function toolsLeft(tools: readonly Tool[], restriction: ToolRestriction | undefined): readonly Tool[] {
  return tools.filter((tool) => nameLeft(tool, restriction) !== undefined)
}

/** What a client calls a tool that it has left to the run; undefined if it has left it by none of its names. */
export function nameLeft(
  { name, claudeNames }: Pick<Tool, 'name' | 'claudeNames'>,
  restriction: ToolRestriction | undefined,
): string | undefined {
  if (restriction?.without.includes(name) === true) return undefined
  return [...claudeNames, ...(claudeNames.length === 0 ? [name] : [])].find(
    (each) => restriction === undefined || isLeft(each, restriction),
  )
}

function isLeft(name: string, { only, without }: ToolRestriction): boolean {
  return !without.includes(name) && (only === undefined || only.includes(name) || others.test(name))
}

/** Refuses the calls of tools that the client has taken away. Like all hooks, it sees calls in each form that they have. */
export function restrictTools(restriction: ToolRestriction): readonly HookCallback[] {
  if (restriction.only === undefined && restriction.without.length === 0) return []
  const ask: HookCallback['handler']['ask'] = ({ tool_name: name }) => {
    if (isLeft(String(name), restriction)) return Promise.resolve({})
    const permissionDecisionReason = `The tool ${String(name)} isn't available in this session.`
    const hookSpecificOutput = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason }
    return Promise.resolve({ hookSpecificOutput })
  }
  return [{ event: 'PreToolUse', matcher: undefined, handler: { type: 'callback', id: 'tools', ask } }]
}
