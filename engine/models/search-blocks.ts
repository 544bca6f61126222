import type { ModelEvent } from '../model.ts'
import { malformedStream } from './failure.ts'
import type { Block } from './messages-block.ts'
import { readSearch } from './web-search.ts'

type SearchEvent = Extract<ModelEvent, { type: 'web_search' }>

/** Puts the searches of one message together: a block asks, a later one has what was found. Both go back as they came. */
export class SearchBlocks {
  readonly #asked = new Map<string, object>()

  /** The event for a finished block; undefined for one that is no search, or whose result is to come. */
  take({ json, ...block }: Block): SearchEvent | undefined {
    if (block.type === 'server_tool_use') {
      if (block.name !== 'web_search') return undefined
      this.#asked.set(block.id ?? '', { ...block, input: json === '' ? block['input'] : inputOf(json) })
      return undefined
    }
    if (block.type !== 'web_search_tool_result') return undefined
    const id = String(block['tool_use_id'])
    const asked = this.#asked.get(id)
    this.#asked.delete(id)
    return searchEvent(asked, [...(asked === undefined ? [] : [asked]), block])
  }

  /** The events for what was asked and not answered in this message: the answer comes with the next, where the provider paused. */
  unanswered(): readonly SearchEvent[] {
    return [...this.#asked.values()].map((asked) => searchEvent(asked, [asked]))
  }
}

function inputOf(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    throw malformedStream('a search whose input is not JSON')
  }
}

function searchEvent(asked: object | undefined, blocks: readonly object[]): SearchEvent {
  const { query } = ((asked as { readonly input?: unknown } | undefined)?.input ?? {}) as { readonly query?: unknown }
  const action = typeof query === 'string' ? { type: 'search', query } : { type: 'other' }
  return { type: 'web_search', ...readSearch(action), opaque: { from: 'anthropic-messages', blocks } }
}
