import type { Tool } from './tool.ts'

/** Tools that may appear and disappear during a run. */
export type DynamicTools = {
  /** Returns the current tools. As long as the tools don't change, the list is the same object. */
  readonly current: () => readonly Tool[]
  /** Names of the MCP servers that are still starting and may add tools. */
  readonly awaited: () => readonly string[]
  /** Resolves when no MCP server is starting any more. */
  readonly settled: () => Promise<void>
  /** One sentence for each server that could not provide its tools, with the reason. */
  readonly missing: () => readonly string[]
}

/** Creates `DynamicTools` from a list of tools that never changes. */
export function fixedTools(tools: readonly Tool[]): DynamicTools {
  return { current: () => tools, awaited: () => [], settled: () => Promise.resolve(), missing: () => [] }
}

/** Limits `DynamicTools` to the tools that a predicate accepts. */
export function someTools(tools: DynamicTools, keeps: (tool: Tool) => boolean): DynamicTools {
  let from: readonly Tool[] | undefined
  let kept: readonly Tool[] = []
  return {
    ...tools,
    current: () => {
      const now = tools.current()
      if (now !== from) kept = now.filter(keeps)
      from = now
      return kept
    },
  }
}
