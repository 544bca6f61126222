import * as z from 'zod'
import type { WebSearch } from '../core/model.ts'

const absent = z
  .string()
  .nullish()
  .transform((value) => value ?? undefined)

const seenAction = z
  .discriminatedUnion('type', [
    z.object({ type: z.literal('search'), query: absent, queries: z.array(z.string()).optional() }),
    z.object({ type: z.literal('open_page'), url: absent }),
    z.object({ type: z.literal('find_in_page'), url: absent, pattern: absent }),
    z.object({ type: z.literal('other') }),
  ])
  // Providers add new kinds of search steps, and an unknown kind must not make the response fail.
  .catch({ type: 'other' })

/** Reads a provider's search action and describes it in one line. */
export function readSearch(said: unknown): Pick<WebSearch, 'query' | 'action'> {
  const action = seenAction.parse(said)
  switch (action.type) {
    case 'search':
      return { action, query: action.queries?.join(' · ') ?? action.query ?? '' }
    case 'open_page':
      return { action, query: action.url ?? '' }
    case 'find_in_page':
      return { action, query: `'${action.pattern ?? ''}' in ${action.url ?? 'a page'}` }
    case 'other':
      return { action, query: '' }
    default:
      return action satisfies never
  }
}
