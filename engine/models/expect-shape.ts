import * as z from 'zod'
import { malformedStream } from './failure.ts'

/**
 * Checks a value from a stream against a schema, and returns it.
 *
 * @param what the value's name in messages
 * @throws ProviderFailure `malformed`, with a message that says what is wrong and where
 */
export function expectShape<T>(what: string, schema: z.ZodType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw malformedStream(`${what}: ${explainIssues(parsed.error)}`)
}

/** A count of tokens. What is none counts as 0, as a missing count does: the answer that comes with it is whole. */
export const tokenCount = z.number().nonnegative().catch(0)

/** Lists everything that is wrong with a value, on one line: `events[0].type: Invalid input: expected string`. */
export function explainIssues(error: z.ZodError): string {
  return error.issues
    .map(({ path, message }) => (path.length === 0 ? message : `${dotted(path)}: ${message}`))
    .join('; ')
}

// Zod has a function for this too, but importing that function would add all of Zod's translations to the bundle.
function dotted(path: readonly PropertyKey[]): string {
  return path
    .map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
    .join('')
    .replace(/^\./, '')
}
