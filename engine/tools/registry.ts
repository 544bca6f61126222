import type { ToolCall, ToolDeclaration } from '../core/model.ts'
import { fixedTools, type DynamicTools } from './dynamic-tools.ts'
import { deferredOfOurs, deferredOfServers, type Deferral } from './search/deferral.ts'
import { ExecuteInput, executeToolName } from './search/execute-input.ts'
import { searchDeferred } from './search/tool-search.ts'
import type { Tool } from './tool.ts'

/** The tools of a run. */
export type ToolRegistry = {
  /** All tools that can be called: the built-in ones sorted by name, then those of MCP servers sorted by name. */
  readonly tools: readonly Tool[]
  /** The tools in every request, always in the same order, because they are part of the prompt's cached prefix. */
  readonly declarations: readonly ToolDeclaration[]
  find(name: string): Tool | undefined
  /** Turns a call through `execute_tool` into a call to the tool itself; any other call is returned unchanged. */
  unwrap(call: ToolCall): ToolCall
  /** Returns the names of up to three deferred tools that match a text and that the model has not seen. Each tool is suggested only once. */
  suggest(text: string): readonly string[]
}

/** The tools and options from which a registry is created. */
type Sources = {
  readonly builtIn: readonly Tool[]
  /** Tools of MCP servers. Default: none. */
  readonly mcp?: readonly Tool[] | DynamicTools
  /** Whether a person is available to answer questions. Default: false. */
  readonly attended?: boolean
  /** Which tools are left out of requests and have to be found by searching. Default: none. */
  readonly deferral?: Deferral
}

/** Values derived from the current tools. They are valid until the tools of a server change. */
type Built = {
  readonly from: readonly Tool[]
  readonly tools: readonly Tool[]
  readonly byName: ReadonlyMap<string, Tool>
  /** The callable tools whose definitions are left out of requests (`deferred`), and those whose definitions are included (`loaded`). */
  readonly deferred: readonly Tool[]
  readonly loaded: readonly Tool[]
}

/**
 * Creates the registry of a run. If several tools have the same name, the first wins, so that no server can replace a built-in tool. A tool that
 * needs a person is not offered if there is none, but it remains in the registry, so that a call to it is answered with the reason. If servers' tools
 * are deferred, the declarations never change after the first request, and tools that appear later can be found by searching. Otherwise the
 * declarations change with the tools.
 */
export function createRegistry(sources: Sources): ToolRegistry {
  const { builtIn, mcp = [], attended = false, deferral = { mode: 'off' } } = sources
  const late = 'current' in mcp ? mcp : fixedTools(mcp)
  const isUsable = ({ headless }: Tool): boolean => headless || attended
  const first = late.current()
  const given = inOrder(builtIn, first)
  const usable = given.filter(isUsable)
  const ours = new Set(builtIn)
  const ofServers = usable.filter((tool) => !ours.has(tool))
  const ownDeferred = new Set(
    deferredOfOurs(
      usable.filter((tool) => ours.has(tool)),
      deferral,
    ),
  )
  const deferredFirst = deferredOfServers(ofServers, deferral)
  const loadedFirst = new Set(ofServers.filter((tool) => !deferredFirst.includes(tool)).map(({ name }) => name))
  const awaits = deferral.mode === 'always' && late.awaited().length > 0
  const staysAsFirst = deferredFirst.length > 0 || awaits
  const searches = ownDeferred.size > 0 || staysAsFirst
  const search = searches ? searchDeferred(() => now(), [...ownDeferred, ...deferredFirst], late) : undefined

  const build = (from: readonly Tool[], ordered: readonly Tool[]): Built => {
    const isLoaded = (tool: Tool): boolean =>
      ours.has(tool) ? !ownDeferred.has(tool) : !staysAsFirst || loadedFirst.has(tool.name)
    const tools = search === undefined ? ordered : inOrder([...search.tools, ...builtIn], from)
    const callable = ordered.filter(isUsable)
    return {
      from,
      tools,
      byName: new Map(tools.map((tool) => [tool.name, tool])),
      deferred: callable.filter((tool) => tool.declaration !== undefined && !isLoaded(tool)),
      // A tool without a declaration, such as one that needs the network in a run without it, is not offered.
      loaded: callable.filter((tool) => tool.declaration !== undefined && isLoaded(tool)),
    }
  }
  let built = build(first, given)
  const now = (): Built => {
    const from = late.current()
    if (from !== built.from) built = build(from, inOrder(builtIn, from))
    return built
  }
  let declared: { readonly by: Built; readonly declarations: readonly ToolDeclaration[] } | undefined
  return {
    get tools() {
      return now().tools
    },
    get declarations() {
      const by = now()
      if (declared === undefined || (!staysAsFirst && declared.by !== by)) {
        const hidden = new Set(by.deferred)
        const shown = by.tools.filter((tool) => isUsable(tool) && !hidden.has(tool))
        declared = { by, declarations: shown.flatMap(({ declaration }) => declaration ?? []) }
      }
      return declared.declarations
    },
    find: (name) => now().byName.get(name),
    unwrap: (call) => {
      const parsed = call.name === executeToolName && search !== undefined ? executeInput(call.input) : undefined
      if (parsed === undefined || !now().byName.has(parsed.name) || parsed.name === executeToolName) return call
      return { ...call, name: parsed.name, kind: 'function', input: JSON.stringify(parsed.input ?? {}) }
    },
    suggest: (text) => search?.suggest(text).map(({ name }) => name) ?? [],
  }
}

function executeInput(text: string): { readonly name: string; readonly input?: unknown } | undefined {
  try {
    return ExecuteInput.safeParse(JSON.parse(text)).data
  } catch {
    // The input is invalid. What is wrong with it is reported when the call is run.
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

/** Sorts tools by the code units of their names, which gives the same order on every machine. */
function sorted(tools: readonly Tool[]): readonly Tool[] {
  return tools.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
}
