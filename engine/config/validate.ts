import * as z from 'zod'
import { UserError } from '../user-error.ts'
import { nearest } from './nearest.ts'
import { lineOf } from './toml.ts'

/** Where a configuration comes from, for messages about it. */
export type Place = {
  /** A file's path, or an option such as `-c`. */
  readonly name: string
  /** The file's text, so that messages can name lines; undefined for an option. */
  readonly text?: string
}

/**
 * Checks a configuration against its schema.
 *
 * @throws UserError `usage` with a line for each wrong key: its place, what was expected, and the known key that is near it
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, place: Place): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const messages = result.error.issues.flatMap((issue) => explain(issue, schema, place))
  throw new UserError('usage', messages.join('\n'))
}

/** A place as messages name it: `file:line`, or what is known of that. */
export function placeOf(place: Place, path: readonly string[]): string {
  const line = place.text === undefined ? undefined : lineOf(place.text, path)
  return line === undefined ? place.name : `${place.name}:${line}`
}

function explain(issue: z.core.$ZodIssue, schema: z.ZodType, place: Place): readonly string[] {
  const path = issue.path.map(String)
  if (issue.code !== 'unrecognized_keys') return [`${placeOf(place, path)}: key '${path.join('.')}': ${issue.message}`]
  const known = knownKeys(schema, path)
  return issue.keys.map((key) => {
    const near = nearest(key, known)
    const advice = near === undefined ? `; known here: ${known.join(', ')}` : `; did you mean '${near}'?`
    return `${placeOf(place, [...path, key])}: unknown key '${[...path, key].join('.')}'${advice}`
  })
}

/** The keys that a table of the configuration may have. */
function knownKeys(whole: z.ZodType, path: readonly string[]): readonly string[] {
  let schema: z.core.JSONSchema.JSONSchema = z.toJSONSchema(whole, { io: 'input' })
  for (const key of path) {
    const inner = schema.properties?.[key] ?? schema.additionalProperties
    schema = typeof inner === 'object' ? inner : {}
  }
  return Object.keys(schema.properties ?? {})
}
