import type { Tool } from '../tool.ts'

/** Whether tools that can be found are kept out of requests: always, never, or from so much of the context window on. */
export type Deferral =
  | { readonly mode: 'always' | 'off' }
  | {
      readonly mode: 'auto'
      readonly percent: number
      /** Tokens that the model takes; undefined where nobody knows. */
      readonly contextWindow: number | undefined
    }

const defaultPercent = 10
const assumedWindow = 128_000
const unitsPerToken = 4

/** Reads `always`, `off`, `auto` (the default) or `auto:N%`; undefined for anything else. */
export function parseDeferral(text = 'auto', contextWindow?: number): Deferral | undefined {
  if (text === 'always' || text === 'off') return { mode: text }
  const match = /^auto(?::(\d{1,3})%)?$/.exec(text)
  const percent = Number(match?.[1] ?? defaultPercent)
  return match === null || percent > 100 ? undefined : { mode: 'auto', percent, contextWindow }
}

/** The tools that requests don't show, of those that say they needn't be. */
export function deferredTools(tools: readonly Tool[], deferral: Deferral): readonly Tool[] {
  const candidates = tools.filter(({ deferred, alwaysLoad }) => deferred && !alwaysLoad)
  switch (deferral.mode) {
    case 'off':
      return []
    case 'always':
      return candidates
    case 'auto': {
      const size = candidates.reduce((sum, { declaration }) => sum + JSON.stringify(declaration ?? '').length, 0)
      const room = ((deferral.contextWindow ?? assumedWindow) * deferral.percent) / 100
      return size / unitsPerToken > room ? candidates : []
    }
    default:
      return deferral satisfies never
  }
}
