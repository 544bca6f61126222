import { sanitizeOutput } from '../core/text/sanitize-output.ts'

const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/

/**
 * Sanitizes every string in a value: text from a model or a repository must not move a person's cursor, hide earlier output, or write to
 * the clipboard.
 */
export function sanitizeForTerminal<T>(thing: T): T {
  return walk(thing) as T
}

function walk(thing: unknown): unknown {
  if (typeof thing === 'string') return control.test(thing) ? sanitizeOutput(Buffer.from(thing)) : thing
  if (Array.isArray(thing)) return thing.map(walk)
  if (typeof thing !== 'object' || thing === null) return thing
  return Object.fromEntries(Object.entries(thing).map(([key, value]) => [key, walk(value)]))
}
