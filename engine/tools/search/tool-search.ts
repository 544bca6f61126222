import * as z from 'zod'
import { defineTool } from '../define-tool.ts'
import type { Tool } from '../tool.ts'
import { ExecuteInput, executeToolName } from './execute-input.ts'
import { subjectOf } from './terms.ts'
import { ToolIndex, type FoundTool } from './tool-index.ts'

const defaultResults = 5
const mostResults = 20

/** What a registry keeps out of requests, and how it is found again. */
type DeferredSearch = {
  /** The tools that stand in requests instead of the deferred ones. */
  readonly tools: readonly Tool[]
  /** Up to three tools that fit a text and were not seen yet, each offered once. */
  suggest(text: string): readonly Tool[]
}

/**
 * Makes the deferred tools searchable. Works with every provider: what was found is run by `execute_tool`, or by its own name.
 *
 * @param deferred not in requests, all of which can be called
 * @param loaded in requests anyway
 */
export function searchDeferred(deferred: readonly Tool[], loaded: readonly Tool[]): DeferredSearch {
  const all = [...loaded, ...deferred]
  const seen = new Set<string>()
  let index: ToolIndex | undefined
  let withSchemas: ToolIndex | undefined
  const find = (query: string, limit: number): readonly FoundTool[] => {
    const discover = /^discover:/i.test(query)
    const used = discover ? (withSchemas ??= new ToolIndex(deferred, true)) : (index ??= new ToolIndex(deferred, false))
    const words = query.replace(/^discover:/i, '').split(/\s+/)
    const required = words.filter((word) => /^\+./.test(word)).map((word) => word.slice(1))
    return used.search({ text: words.filter((word) => !/^\+./.test(word)).join(' '), required, limit })
  }
  const names = deferred.map(({ name }) => name).join(', ')
  const search = defineTool({
    name: 'tool_search',
    description:
      'Finds tools that are not listed with their parameters, and shows how to call them (with execute_tool). A query is words; ' +
      '"+word" must be there; "discover:words" also looks at parameters; "select:A,B" takes tools by name. They are: ' +
      `${names}.`,
    alwaysLoad: true,
    readOnly: () => true,
    concurrencySafe: () => true,
    input: z.object({
      query: z.string().min(1),
      max_results: z.int().min(1).max(mostResults).optional().describe(`Default ${defaultResults}.`),
    }),
    run: ({ query, max_results: limit = defaultResults }) => {
      const selected = /^select:(.*)$/is.exec(query)?.[1]
      if (selected !== undefined) return Promise.resolve(select(selected, all, loaded, seen))
      const found = find(query, limit)
      if (found.length === 0) {
        return Promise.resolve({
          ok: true,
          output: 'No tool fits. Try other words, or discover:words to look at parameters too.',
        })
      }
      for (const { tool } of found) seen.add(tool.name)
      return Promise.resolve({ ok: true, output: found.map(({ tool }) => describe(tool)).join('\n\n') })
    },
  })
  return {
    tools: [search, executeTool],
    suggest: (text) => {
      const found = find(subjectOf(text), 8).filter(({ tool, score }) => !seen.has(tool.name) && score >= leastScore)
      const offered = found.slice(0, 3).map(({ tool }) => tool)
      for (const { name } of offered) seen.add(name)
      return offered
    },
  }
}

/** Below this a tool has a word or two in common with what was said, which any tool has. */
const leastScore = 12

/** Stands in requests; a call of it is taken as a call of the tool it names before anything looks at it. */
const executeTool = defineTool({
  name: executeToolName,
  description: 'Runs a tool that tool_search found.',
  alwaysLoad: true,
  input: ExecuteInput,
  run: ({ name }) => Promise.resolve({ ok: false, output: `There is no tool '${name}'. Search with tool_search.` }),
})

function select(
  names: string,
  all: readonly Tool[],
  loaded: readonly Tool[],
  seen: Set<string>,
): { readonly ok: boolean; readonly output: string } {
  const parts = names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
    .map((name) => {
      const tool = all.find((one) => one.name.toLowerCase() === name.toLowerCase())
      if (tool === undefined) return { ok: false, text: `There is no tool '${name}'.` }
      seen.add(tool.name)
      if (loaded.includes(tool)) return { ok: true, text: `${tool.name} is loaded already: call it by its name.` }
      return { ok: true, text: describe(tool) }
    })
  return { ok: parts.some(({ ok }) => ok), output: parts.map(({ text }) => text).join('\n\n') }
}

function describe({ name, description, declaration }: Tool): string {
  return `${name}: ${description}\ninput: ${JSON.stringify(declaration?.parameters ?? {})}`
}
