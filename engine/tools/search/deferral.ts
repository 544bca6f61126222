import type { Tool } from '../tool.ts'

/**
 * The searchable tools that are left out of requests: all, none, or (`auto`) our own deferrable ones, and those of servers where there are
 * many.
 */
export type Deferral = { readonly mode: 'always' | 'off' } | { readonly mode: 'auto'; readonly percent: number }

const defaultPercent = 10
/** The base of `auto:N%`. Not the model's own window: tools cost as much, and distract as much, in a larger one. */
const sharedTokens = 200_000
/** More of them from servers than that are too many to choose from, however short they are. */
const mostTools = 64
const unitsPerToken = 4

/** Reads `always`, `off`, `auto` (the default) or `auto:N%`; undefined for anything else. */
export function parseDeferral(text = 'auto'): Deferral | undefined {
  if (text === 'always' || text === 'off') return { mode: text }
  const match = /^auto(?::(\d{1,3})%)?$/.exec(text)
  const percent = Number(match?.[1] ?? defaultPercent)
  return match === null || percent > 100 ? undefined : { mode: 'auto', percent }
}

/** The tools of servers that requests don't show, of those that say they needn't be. */
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

/** The same of tools that are ours, or the user's own: they say themselves whether they are needed often. */
export function deferredOfOurs(tools: readonly Tool[], { mode }: Deferral): readonly Tool[] {
  return mode === 'off' ? [] : tools.filter(isCandidate)
}

function isCandidate({ deferred, alwaysLoad, declaration }: Tool): boolean {
  return deferred && !alwaysLoad && declaration !== undefined
}
