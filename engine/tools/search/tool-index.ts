import type { Tool } from '../tool.ts'
import { termsOf } from './terms.ts'

/** A tool that was found. The higher the score, the better the match. */
export type FoundTool = { readonly tool: Tool; readonly score: number }

/** A search for tools. */
type ToolQuery = {
  readonly text: string
  /** Words that must all occur in the searched texts of a tool: its name, hint, description, and perhaps its schema. */
  readonly required: readonly string[]
  readonly limit: number
}

/** The weight of a word, depending on the part of the tool in which it occurs. */
const weights = { name: 3, hint: 2.5, description: 1, schema: 1 } as const

type Posting = { readonly at: number; readonly weight: number }

/**
 * Finds tools by words. The score of a word depends on how many times it occurs in the tool, in which part of the tool it occurs, and how rare it is
 * in other tools.
 */
export class ToolIndex {
  readonly #tools: readonly Tool[]
  readonly #postings = new Map<string, Posting[]>()

  /**
   * @param withSchemas whether the names and descriptions of a tool's parameters are searched too
   */
  constructor(tools: readonly Tool[], withSchemas: boolean) {
    this.#tools = tools
    for (const [at, tool] of tools.entries()) {
      const weighted = new Map<string, number>()
      const add = (text: string, weight: number): void => {
        const { words, bigrams } = termsOf(text)
        const counts = new Map<string, number>()
        for (const term of [...words, ...bigrams]) counts.set(term, (counts.get(term) ?? 0) + 1)
        // The count has limited influence: ten occurrences of a word weigh only about three times as much as one.
        for (const [term, count] of counts)
          weighted.set(term, (weighted.get(term) ?? 0) + weight * (1 + Math.log(count)))
      }
      add(tool.name, weights.name)
      add(tool.searchHint, weights.hint)
      add(tool.description, weights.description)
      if (withSchemas) add(schemaText(tool.declaration?.parameters), weights.schema)
      for (const [term, weight] of weighted) {
        const known = this.#postings.get(term)
        if (known === undefined) this.#postings.set(term, [{ at, weight }])
        else known.push({ at, weight })
      }
    }
  }

  /**
   * Returns the best matches, best first. Chinese, Japanese and Korean text is compared in pairs of characters: a tool that contains none of the
   * query's words and only one of the query's pairs is not a match, unless the query has no other pair.
   */
  search({ text, required, limit }: ToolQuery): readonly FoundTool[] {
    const { words, bigrams } = termsOf(`${text} ${required.join(' ')}`)
    const scores = new Float64Array(this.#tools.length)
    for (const word of new Set(words)) this.#score(word, scores)
    const byPairs = new Float64Array(this.#tools.length)
    const pairs = new Uint16Array(this.#tools.length)
    const distinct = new Set(bigrams)
    for (const pair of distinct) this.#score(pair, byPairs, pairs)
    const needed = Math.min(2, distinct.size)
    const must = required.flatMap((word) => Object.values(termsOf(word)).flat())
    const allowed = must.map((term) => new Set(this.#postings.get(term)?.map(({ at }) => at)))
    const best: FoundTool[] = []
    for (const [at, tool] of this.#tools.entries()) {
      const byWords = scores[at] ?? 0
      const pairsCount = byWords > 0 || (pairs[at] ?? 0) >= needed
      const score = byWords + (pairsCount ? (byPairs[at] ?? 0) : 0)
      if (score === 0 || (best.length === limit && score <= (best.at(-1)?.score ?? 0))) continue
      if (allowed.some((set) => !set.has(at))) continue
      const place = best.findIndex((other) => other.score < score)
      best.splice(place === -1 ? best.length : place, 0, { tool, score })
      if (best.length > limit) best.pop()
    }
    return best
  }

  /** For each tool that contains a term, adds the term's score to the tool's score in `scores`, and one to its count in `counts`. */
  #score(term: string, scores: Float64Array, counts?: Uint16Array): void {
    const postings = this.#postings.get(term) ?? []
    const rarity = Math.log(1 + this.#tools.length / Math.max(postings.length, 1))
    for (const { at, weight } of postings) {
      scores[at] = (scores[at] ?? 0) + weight * rarity
      if (counts !== undefined) counts[at] = (counts[at] ?? 0) + 1
    }
  }
}

/** Collects the names and descriptions in a JSON Schema. */
function schemaText(schema: unknown): string {
  if (Array.isArray(schema)) return schema.map(schemaText).join(' ')
  if (typeof schema !== 'object' || schema === null) return ''
  return Object.entries(schema)
    .map(([key, value]) => {
      if (key === 'description' || key === 'title') return String(value)
      if (key === 'properties' && typeof value === 'object' && value !== null) {
        return `${Object.keys(value).join(' ')} ${Object.values(value).map(schemaText).join(' ')}`
      }
      return schemaText(value)
    })
    .join(' ')
}
