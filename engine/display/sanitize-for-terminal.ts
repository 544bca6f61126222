import { readable } from '../core/text/harmless.ts'

/**
 * Sanitizes every string in a value: text from a model or a repository must not move a person's cursor, hide earlier output, or write to
 * the clipboard.
 */
export function sanitizeForTerminal<T>(thing: T): T {
  return walk(thing) as T
}

function walk(thing: unknown): unknown {
  if (typeof thing === 'string') return readable(thing)
  if (Array.isArray(thing)) return thing.map(walk)
  if (typeof thing !== 'object' || thing === null) return thing
  return Object.fromEntries(Object.entries(thing).map(([key, value]) => [key, walk(value)]))
}
