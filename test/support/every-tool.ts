import { builtInTools } from '../../engine/app/built-in-tools.ts'

type Body = { readonly tools?: readonly { readonly name?: string; readonly description?: string }[] }

/** Tools that a run has and doesn't offer, where they could only be refused. */
const notAlwaysOffered = ['save_memory']

/**
 * Every tool that a run has, as the run itself says it: what a request offers, what is only named there to be searched for, and the
 * built-in ones that are understood without being offered. Those of MCP servers come when they come, and are left out.
 *
 * @param body a request of the run, made with `tool_search = "always"` so that the search itself is among them
 */
export function registeredTools(body: unknown): readonly string[] {
  const offered = (body as Body).tools ?? []
  const search = offered.find(({ name }) => name === 'tool_search')?.description ?? ''
  const named = /They are: (.*?)\.(?: More |$)/.exec(search)?.[1]?.split(', ') ?? []
  const names = [
    ...offered.flatMap(({ name }) => (name === undefined ? [] : [name])),
    ...named,
    ...builtInTools.map(({ name }) => name),
    ...notAlwaysOffered,
  ]
  return [...new Set(names)].filter((name) => !name.startsWith('mcp__')).sort()
}
