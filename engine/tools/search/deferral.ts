import type { Tool } from '../tool.ts'

/**
 * Which deferrable tools are left out of requests, so that the model has to search for them. `always`: all of them. `off`: none. `auto`: our own
 * tools, and also the servers' tools if there are many of them or their declarations are long.
 */
export type Deferral = { readonly mode: 'always' | 'off' } | { readonly mode: 'auto'; readonly percent: number }

const defaultPercent = 10
/**
 * The number of tokens to which the percentage in `auto:N%` refers. The model's own context window is not used, because tools cost and distract just
 * as much in a larger window.
 */
const sharedTokens = 200_000
/** If servers offer more tools than this, `auto` leaves them out of requests: there are too many to choose from, however short their declarations are. */
const mostTools = 64
const unitsPerToken = 4

/** Reads `always`, `off`, `auto` (the default) or `auto:N%`; undefined for anything else. */
export function parseDeferral(text = 'auto'): Deferral | undefined {
  if (text === 'always' || text === 'off') return { mode: text }
  const match = /^auto(?::(\d{1,3})%)?$/.exec(text)
  const percent = Number(match?.[1] ?? defaultPercent)
  return match === null || percent > 100 ? undefined : { mode: 'auto', percent }
}

/** Returns the servers' tools to leave out of requests. A tool is only left out if its definition permits that. */
export function deferredOfServers(tools: readonly Tool[], deferral: Deferral): readonly Tool[] {
  const candidates = tools.filter(isCandidate)
  switch (deferral.mode) {
    case 'off':
      return []
    case 'always':
      return candidates
    case 'auto': {
      const size = candidates.reduce((sum, { declaration }) => sum + JSON.stringify(declaration ?? '').length, 0)
      const share = (sharedTokens * deferral.percent) / 100
      return size / unitsPerToken > share || candidates.length > mostTools ? candidates : []
    }
    default:
      return deferral satisfies never
  }
}

/** Returns our tools and the user's tools to leave out of requests. A tool is only left out if its definition permits that. */
export function deferredOfOurs(tools: readonly Tool[], { mode }: Deferral): readonly Tool[] {
  return mode === 'off' ? [] : tools.filter(isCandidate)
}

function isCandidate({ deferred, alwaysLoad, declaration }: Tool): boolean {
  return deferred && !alwaysLoad && declaration !== undefined
}
