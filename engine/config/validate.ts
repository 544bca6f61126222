import * as z from 'zod'
import { UserError } from '../core/user-error.ts'
import { nearest } from '../core/text/nearest.ts'
import { lineOf } from './toml.ts'

/** The source of a configuration, for messages. */
export type Place = {
  /** A file's path, or an option such as `-c`. */
  readonly name: string
  /** The file's text, so that messages can name lines; undefined for an option. */
  readonly text?: string
}

/**
 * Validates a configuration against its schema.
 *
 * @throws UserError `usage` with one line per invalid key: its position, and what was expected or, for an unknown key, the most similar known key or
 * all known keys
 */
export function validate<T>(schema: z.ZodType<T>, value: unknown, place: Place): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const messages = result.error.issues.flatMap((issue) => explain(issue, schema, place))
  throw new UserError('usage', messages.join('\n'))
}

/** Returns a position for messages: `file:line`, or only the file or option if the line is unknown. */
export function placeOf(place: Place, path: readonly string[]): string {
  const line = place.text === undefined ? undefined : lineOf(place.text, path)
  return line === undefined ? place.name : `${place.name}:${line}`
}

/** An unknown key, or an invalid value at a path. */
type Fault = { readonly path: readonly string[]; readonly unknown: boolean; readonly message: string }

/** Returns the problems that validation found, each with its path. */
export function faultsOf(error: z.ZodError): readonly Fault[] {
  return error.issues.flatMap(faultsIn)
}

function faultsIn(issue: z.core.$ZodIssue): readonly Fault[] {
  const path = issue.path.map(String)
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => ({ path: [...path, key], unknown: true, message: 'unknown' }))
  const meant = issue.code === 'invalid_union' ? closest(issue) : undefined
  if (meant !== undefined) return meant.flatMap(faultsIn)
  return [{ path, unknown: false, message: issue.message }]
}

function explain(issue: z.core.$ZodIssue, schema: z.ZodType, place: Place): readonly string[] {
  const path = issue.path.map(String)
  const meant = issue.code === 'invalid_union' ? closest(issue) : undefined
  if (meant !== undefined) return meant.flatMap((inner) => explain(inner, schema, place))
  if (issue.code !== 'unrecognized_keys') return [`${placeOf(place, path)}: key '${path.join('.')}': ${issue.message}`]
  const known = knownKeys(schema, path)
  return issue.keys.map((key) => {
    const near = nearest(key, known)
    const advice = near === undefined ? `; known keys: ${known.join(', ')}` : `; did you mean '${near}'?`
    return `${placeOf(place, [...path, key])}: unknown key '${[...path, key].join('.')}'${advice}`
  })
}

/**
 * Chooses which problems to report for a value that may have one of several forms: those of the form that has the fewest problems, among the forms
 * whose outermost type fits the value. Returns undefined if no form's outermost type fits.
 */
function closest(issue: z.core.$ZodIssueInvalidUnion): readonly z.core.$ZodIssue[] | undefined {
  const likely = issue.errors.filter((errors) =>
    errors.every(({ code, path }) => code !== 'invalid_type' || path.length > 0),
  )
  const [fewest] = likely.toSorted((a, b) => a.length - b.length)
  return fewest?.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

/** Returns the keys that are allowed in a table of the configuration. */
function knownKeys(whole: z.ZodType, path: readonly string[]): readonly string[] {
  let schemas: readonly z.core.JSONSchema.JSONSchema[] = [z.toJSONSchema(whole, { io: 'input' })]
  for (const key of path) {
    schemas = schemas.flatMap(choices).flatMap((schema) => {
      const inner =
        schema.properties?.[key] ?? (/^\d+$/.test(key) ? schema.items : undefined) ?? schema.additionalProperties
      return typeof inner === 'object' && !Array.isArray(inner) ? [inner] : []
    })
  }
  return [...new Set(schemas.flatMap(choices).flatMap((schema) => Object.keys(schema.properties ?? {})))]
}

/** Returns a schema and all of its alternatives (`anyOf`). */
function choices(schema: z.core.JSONSchema.JSONSchema): readonly z.core.JSONSchema.JSONSchema[] {
  const alternatives = (schema.anyOf ?? []).flatMap((one) => (typeof one === 'object' ? choices(one) : []))
  return [schema, ...alternatives]
}
