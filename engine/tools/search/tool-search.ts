import * as z from 'zod'
import { defineTool } from '../define-tool.ts'
import type { DynamicTools } from '../dynamic-tools.ts'
import type { Tool } from '../tool.ts'
import { ExecuteInput, executeToolName } from './execute-input.ts'
import { subjectOf } from './terms.ts'
import { ToolIndex, type FoundTool } from './tool-index.ts'

const defaultResults = 5
const mostResults = 20

/** Access to the deferred tools: those whose definitions a registry leaves out of requests to the model. */
type DeferredSearch = {
  /** The tools that requests contain in place of the deferred ones: one searches for tools, and the other runs a tool that was found. */
  readonly tools: readonly Tool[]
  /** Returns up to three tools that match a text and that the model hasn't seen yet. Each tool is suggested only once. */
  suggest(text: string): readonly Tool[]
}

/** The tools that are searched: the deferred ones, and those of `loaded`, which requests contain, that come from servers. */
type Searched = { readonly deferred: readonly Tool[]; readonly loaded: readonly Tool[] }

/**
 * Makes the deferred tools searchable. With every provider, a tool that was found can be called through `execute_tool` or by its own name.
 *
 * @param tools returns the current tools, as a new object whenever they have changed
 * @param first the tools that the search tool's description names. The description stays the same when the tools change
 * @param late servers that may still add tools; a search waits for them
 */
export function searchDeferred(tools: () => Searched, first: readonly Tool[], late: DynamicTools): DeferredSearch {
  const seen = new Set<string>()
  let indexed: Searched | undefined
  let index: ToolIndex | undefined
  let withSchemas: ToolIndex | undefined
  const find = (query: string, limit: number): readonly FoundTool[] => {
    const current = tools()
    if (current !== indexed) index = withSchemas = undefined
    indexed = current
    const searched = [...current.deferred, ...current.loaded.filter(({ deferred }) => deferred)]
    const discover = /^discover:/i.test(query)
    const used = discover ? (withSchemas ??= new ToolIndex(searched, true)) : (index ??= new ToolIndex(searched, false))
    const words = query.replace(/^discover:/i, '').split(/\s+/)
    const required = words.filter((word) => /^\+./.test(word)).map((word) => word.slice(1))
    return used.search({ text: words.filter((word) => !/^\+./.test(word)).join(' '), required, limit })
  }
  const names = first.map(({ name }) => name).join(', ')
  const awaited = late.awaited()
  const more = awaited.length === 0 ? '' : ` Servers that are still starting will add more: ${awaited.join(', ')}.`
  const search = defineTool({
    name: 'tool_search',
    description:
      'Finds tools that are not listed with their parameters, and shows how to call them (with execute_tool). A query is a list of ' +
      'words; "+word" is required; "discover:words" also searches parameters; "select:A,B" selects tools by name. These tools ' +
      'can be found: ' +
      `${names === '' ? 'not known yet' : names}.${more}`,
    alwaysLoad: true,
    readOnly: () => true,
    concurrencySafe: () => true,
    input: z.object({
      query: z.string().min(1),
      max_results: z.int().min(1).max(mostResults).optional().describe(`Default ${defaultResults}.`),
    }),
    run: async ({ query, max_results: limit = defaultResults }, { signal }) => {
      if (late.awaited().length > 0) await Promise.race([late.settled(), aborted(signal)])
      const missing = late.missing().map((sentence) => `\n\n${sentence}`)
      const selected = /^select:(.*)$/is.exec(query)?.[1]
      if (selected !== undefined) {
        const { ok, output } = select(selected, tools(), seen)
        return { ok, output: [output, ...(ok ? [] : missing)].join('') }
      }
      const found = find(query, limit)
      if (found.length === 0) {
        const advice = 'No tool matches. Try other words, or discover:words to search parameters too.'
        return { ok: true, output: [advice, ...missing].join('') }
      }
      for (const { tool } of found) seen.add(tool.name)
      return { ok: true, output: found.map(({ tool }) => describe(tool, tools())).join('\n\n') }
    },
  })
  return {
    tools: [search, executeTool],
    suggest: (text) => {
      const found = find(subjectOf(text), 8).filter(
        ({ tool, score }) =>
          tool.suggested && !seen.has(tool.name) && !tools().loaded.includes(tool) && score >= leastScore,
      )
      const offered = found.slice(0, 3).map(({ tool }) => tool)
      for (const { name } of offered) seen.add(name)
      return offered
    },
  }
}

/** The minimum score of a tool that is suggested. Almost every tool shares a word or two with a text, but such a match scores lower than this. */
const leastScore = 12

/** The tool that runs deferred tools. The registry turns each call to this tool into a call to the named tool before anything else sees the call. */
const executeTool = defineTool({
  name: executeToolName,
  description: 'Runs a tool that tool_search found.',
  alwaysLoad: true,
  input: ExecuteInput,
  run: ({ name }) => Promise.resolve({ ok: false, output: `There is no tool '${name}'. Search with tool_search.` }),
})

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function select(
  names: string,
  searched: Searched,
  seen: Set<string>,
): { readonly ok: boolean; readonly output: string } {
  const all = [...searched.loaded, ...searched.deferred]
  const parts = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => {
      const tool = all.find((one) => one.name.toLowerCase() === name.toLowerCase())
      if (tool === undefined) return { ok: false, text: `There is no tool '${name}'.` }
      seen.add(tool.name)
      return { ok: true, text: describe(tool, searched) }
    })
  return { ok: parts.some(({ ok }) => ok), output: parts.map(({ text }) => text).join('\n\n') }
}

function describe(tool: Tool, { loaded }: Searched): string {
  const { name, description, declaration } = tool
  if (loaded.includes(tool)) return `${name} is already loaded: call it by its name.`
  return `${name}: ${description}\ninput: ${JSON.stringify(declaration?.parameters ?? {})}`
}
