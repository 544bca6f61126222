import type { ToolDeclaration } from '../model.ts'
import type { Tool } from './tool.ts'

/** The tools of a run. */
export type ToolRegistry = {
  /** All that can be called: built-in ones by name, then those of MCP servers by name. */
  readonly tools: readonly Tool[]
  /** What every request offers, always in the same order: it is part of the prompt's cached prefix. */
  readonly declarations: readonly ToolDeclaration[]
  find(name: string): Tool | undefined
}

/** Where tools come from, and for whom. */
type Sources = {
  readonly builtIn: readonly Tool[]
  /** Tools of MCP servers. Default: none. */
  readonly mcp?: readonly Tool[]
  /** Whether a person is there who can be asked. Default: no. */
  readonly attended?: boolean
}

/**
 * Puts tools in order. Of several with one name the first stands, so that no server can replace a built-in tool. A tool that needs a
 * person is not offered where there is none, but stays known: a call of it is told why it can't be.
 */
export function createRegistry({ builtIn, mcp = [], attended = false }: Sources): ToolRegistry {
  const byName = new Map<string, Tool>()
  for (const tool of [...sorted(builtIn), ...sorted(mcp)]) {
    if (tool.enabled && !byName.has(tool.name)) byName.set(tool.name, tool)
  }
  const tools = [...byName.values()]
  let declarations: readonly ToolDeclaration[] | undefined
  return {
    tools,
    get declarations() {
      return (declarations ??= tools
        .filter(({ headless }) => headless || attended)
        .flatMap(({ declaration }) => (declaration === undefined ? [] : [declaration])))
    },
    find: (name) => byName.get(name),
  }
}

/** By code units, which is the same order on every machine. */
function sorted(tools: readonly Tool[]): readonly Tool[] {
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
