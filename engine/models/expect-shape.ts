import * as z from 'zod'
import { malformedStream } from './failure.ts'

/** A value from a stream, checked. Throws `ProviderFailure` 'malformed', saying of `what` and where it is not as it should be. */
export function expectShape<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw malformedStream(`${what}: ${explainIssues(parsed.error)}`)
}

/** All that is wrong with a value, on one line: `events[0].type: Invalid input: expected string`. */
export function explainIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${dotted(path)}: ${message}`))
    .join('; ')
}

// Zod has this too, in a namespace that pulls all of its translations into a bundle.
function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')
}
