import type { ToolCall, ToolDeclaration } from '../model.ts'
import { deferredTools, type Deferral } from './search/deferral.ts'
import { ExecuteInput, executeToolName } from './search/execute-input.ts'
import { searchDeferred } from './search/tool-search.ts'
import type { Tool } from './tool.ts'

/** The tools of a run. */
export type ToolRegistry = {
  /** All that can be called: built-in ones by name, then those of MCP servers by name. */
  readonly tools: readonly Tool[]
  /** What every request offers, always in the same order: it is part of the prompt's cached prefix. */
  readonly declarations: readonly ToolDeclaration[]
  find(name: string): Tool | undefined
  /** A call of a tool through `execute_tool` as the call of that tool; any other call as it is. */
  unwrap(call: ToolCall): ToolCall
  /** Names of up to three tools that requests don't show, that fit a text, and that the model has not seen. Each is given once. */
  suggest(text: string): readonly string[]
}

/** Where tools come from, and for whom. */
type Sources = {
  readonly builtIn: readonly Tool[]
  /** Tools of MCP servers. Default: none. */
  readonly mcp?: readonly Tool[]
  /** Whether a person is there who can be asked. Default: no. */
  readonly attended?: boolean
  /** Which tools requests leave out, to be searched for. Default: none. */
  readonly deferral?: Deferral
}

/**
 * Puts tools in order. Of several with one name the first stands, so that no server can replace a built-in tool. A tool that needs a
 * person is not offered where there is none, but stays known: a call of it is told why it can't be.
 */
export function createRegistry(sources: Sources): ToolRegistry {
  const { builtIn, mcp = [], attended = false, deferral = { mode: 'off' } } = sources
  const given = inOrder(builtIn, mcp)
  const usable = given.filter(({ headless }) => headless || attended)
  const deferred = deferredTools(usable, deferral)
  const hidden = new Set(deferred)
  const search =
    deferred.length === 0
      ? undefined
      : searchDeferred(
          deferred,
          usable.filter((tool) => !hidden.has(tool)),
        )
  const tools = search === undefined ? given : inOrder([...search.tools, ...builtIn], mcp)
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  let declarations: readonly ToolDeclaration[] | undefined
  return {
    tools,
    get declarations() {
      return (declarations ??= tools
        .filter((tool) => (tool.headless || attended) && !hidden.has(tool))
        .flatMap(({ declaration }) => (declaration === undefined ? [] : [declaration])))
    },
    find: (name) => byName.get(name),
    unwrap: (call) => {
      const parsed = call.name === executeToolName && search !== undefined ? executeInput(call.input) : undefined
      if (parsed === undefined || !byName.has(parsed.name) || parsed.name === executeToolName) return call
      return { ...call, name: parsed.name, kind: 'function', input: JSON.stringify(parsed.input ?? {}) }
    },
    suggest: (text) => search?.suggest(text).map(({ name }) => name) ?? [],
  }
}

function executeInput(text: string): { readonly name: string; readonly input?: unknown } | undefined {
  try {
    return ExecuteInput.safeParse(JSON.parse(text)).data
  } catch {
    // The path of the call says what is wrong with it.
    return undefined
  }
}

function inOrder(builtIn: readonly Tool[], mcp: readonly Tool[]): readonly Tool[] {
  const byName = new Map<string, Tool>()
  for (const tool of [...sorted(builtIn), ...sorted(mcp)]) {
    if (tool.enabled && !byName.has(tool.name)) byName.set(tool.name, tool)
  }
  return [...byName.values()]
}

/** By code units, which is the same order on every machine. */
function sorted(tools: readonly Tool[]): readonly Tool[] {
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
