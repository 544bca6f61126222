import { isDeepStrictEqual } from 'node:util'
import { rename, sentNames, type Naming } from './property-names.ts'
import { rootOf } from './root-schema.ts'
import { deepest, inOrder, isSchema, refTarget, unions, type Schema } from './schema-parts.ts'

/** A tool's schema in a form that all providers accept, and the names of properties that differ from the tool's own. */
export type AcceptableSchema = {
  readonly schema: Schema
  /** Renames the properties of a call's arguments: from the names in the acceptable schema to the tool's own. */
  readonly toOwn: (value: unknown) => unknown
  /** The reverse of `toOwn`. */
  readonly toSent: (value: unknown) => unknown
  /** Whether any property has another name. */
  readonly isRenamed: boolean
}

/**
 * Returns a tool's schema in a form that all providers accept. MCP servers and users write schemas that a validator understands, but for which a provider
 * refuses the whole request. The result only guides the model: the tool checks the arguments by its own schema.
 *
 * - The root is an object without a union: the properties of all variants are listed, and those that each variant requires are required.
 * - Every schema has a type, a reference or a union, and every array has a schema for its items.
 * - Keywords whose value is of a wrong kind, such as `properties: null`, are left out.
 * - Properties have names of at most 64 letters, digits, `_`, `.` and `-`.
 */
export function acceptableSchema(own: Schema): AcceptableSchema {
  const known = accepted.get(own)
  if (known !== undefined) return known
  const made = make(own)
  accepted.set(own, made)
  return made
}

const accepted = new WeakMap<Schema, AcceptableSchema>()

function make(own: Schema): AcceptableSchema {
  const sent = sentNames(own)
  const schema = { properties: {}, ...accept(rootOf(own), { sent, root: own }, 0), type: 'object' }
  const isRenamed = sent.size > 0
  const back = new Map([...sent].map(([name, other]) => [other, name]))
  const toOwn: Naming['name'] = (key, known) => {
    const name = back.get(key) ?? key
    return known.has(name) ? { own: name, to: name } : { own: key, to: key }
  }
  const toSent: Naming['name'] = (key, known) => ({ own: key, to: (known.has(key) ? sent.get(key) : undefined) ?? key })
  return {
    // An unchanged schema is sent as it is, with its keywords in their order.
    schema: isDeepStrictEqual(schema, own) ? own : schema,
    toOwn: (value) => rename(value, [own], { root: own, name: toOwn }),
    toSent: (value) => rename(value, [own], { root: own, name: toSent }),
    isRenamed,
  }
}

const types = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const leaf = { type: ['string', 'number', 'boolean', 'object', 'null'] }
const anything = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'], items: leaf }
const tables = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']
const single = ['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames']

const isText = (value: unknown): boolean => typeof value === 'string'
const isNumber = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value)
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText)
/** What the value of a keyword must be. Providers compile the whole schema, and refuse it if one value is wrong. */
const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  ...Object.fromEntries(
    'title description format pattern $id $schema $comment $anchor contentEncoding contentMediaType'
      .split(' ')
      .map((keyword) => [keyword, isText]),
  ),
  ...Object.fromEntries(
    'minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains'
      .split(' ')
      .map((keyword) => [keyword, isNumber]),
  ),
  ...Object.fromEntries('uniqueItems readOnly writeOnly deprecated'.split(' ').map((keyword) => [keyword, isFlag])),
  required: isTexts,
  enum: (value) => Array.isArray(value) && value.length > 0,
  examples: Array.isArray,
}

/** What the parts of a schema share: the names that are sent in place of others, and the root of the tool's own schema. */
type Whole = { readonly sent: ReadonlyMap<string, string>; readonly root: Schema }

function accept(schema: unknown, whole: Whole, depth: number): Record<string, unknown> {
  if (!isSchema(schema) || depth > deepest) return { ...anything }
  const below = (value: unknown): Record<string, unknown> => accept(value, whole, depth + 1)
  const result: Record<string, unknown> = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === 'type' || keyword === 'items' || keyword === 'prefixItems') continue
    if (tables.includes(keyword)) {
      if (isSchema(value)) result[keyword] = tableOf(keyword, value, whole, below)
    } else if (unions.includes(keyword)) {
      if (Array.isArray(value) && value.length > 0) result[keyword] = value.map(below)
    } else if (single.includes(keyword)) {
      if (typeof value === 'boolean') result[keyword] = value
      else if (isSchema(value)) result[keyword] = Object.keys(value).length === 0 ? value : below(value)
    } else if (keyword === '$ref') {
      if (typeof value === 'string' && isKept(value, whole)) result[keyword] = value
    } else if (kinds[keyword]?.(value) ?? true) result[keyword] = value
  }
  const names = isSchema(result['properties']) ? Object.keys(result['properties']) : []
  if (Array.isArray(result['required'])) {
    const required = (result['required'] as string[]).map((name) => whole.sent.get(name) ?? name)
    result['required'] = required.filter((name, at) => names.includes(name) && required.indexOf(name) === at)
  }
  const type = typeOf(schema, result)
  if (type !== undefined) Object.assign(result, { type })
  if (type === 'array' || (Array.isArray(type) && type.includes('array')) || hasItems(schema))
    result['items'] = itemsOf(schema, below)
  return inOrder(schema, result)
}

/** Whether a reference still leads to its schema in the acceptable one. */
function isKept(reference: string, { sent, root }: Whole): boolean {
  const place =
    /^#(?:$|\/(?:\$defs|definitions)\/[^/]+$)/.test(reference) ||
    (sent.size === 0 && /^#\/properties\//.test(reference))
  return place && isSchema(refTarget(reference, root))
}

function tableOf(
  keyword: string,
  table: Schema,
  { sent }: Whole,
  below: (value: unknown) => Record<string, unknown>,
): Record<string, unknown> {
  const named = (name: string): string => (keyword === 'properties' ? (sent.get(name) ?? name) : name)
  return Object.fromEntries(Object.entries(table).map(([name, value]) => [named(name), below(value)]))
}

/** The type of a schema: its own, or what its other keywords imply. Undefined if a reference or a union says enough. */
function typeOf(schema: Schema, result: Schema): unknown {
  const { type } = schema
  if (typeof type === 'string' && types.includes(type)) return type
  const known = Array.isArray(type) ? type.filter((one) => types.includes(one as string)) : []
  if (known.length > 0) return known
  if (['$ref', ...unions].some((keyword) => Object.hasOwn(result, keyword))) return undefined
  const has = (keywords: string): boolean => keywords.split(' ').some((keyword) => Object.hasOwn(result, keyword))
  if (has('properties patternProperties additionalProperties minProperties maxProperties')) return 'object'
  if (hasItems(schema) || has('minItems maxItems uniqueItems contains')) return 'array'
  const values = Array.isArray(result['enum']) ? result['enum'] : 'const' in result ? [result['const']] : undefined
  if (values !== undefined) return typesOf(values)
  if (has('minLength maxLength pattern format')) return 'string'
  if (has('minimum maximum exclusiveMinimum exclusiveMaximum multipleOf')) return 'number'
  return anything.type
}

function typesOf(values: readonly unknown[]): unknown {
  const all = values.map((value) => (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value))
  const some = all.filter((type, at) => all.indexOf(type) === at)
  return some.length === 1 ? some[0] : some
}

function hasItems({ items, prefixItems }: Schema): boolean {
  return isSchema(items) || typeof items === 'boolean' || Array.isArray(items) || Array.isArray(prefixItems)
}

/** One schema for all items. If a list has a schema for each place, any of these is allowed at each place. */
function itemsOf({ items, prefixItems }: Schema, below: (value: unknown) => Record<string, unknown>): unknown {
  const places = [prefixItems, items].flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
  const rest = isSchema(items) ? [items] : []
  const all = [...places, ...rest].map(below)
  const some = all.filter((one, at) => all.findIndex((other) => isDeepStrictEqual(other, one)) === at)
  if (some.length === 0) return { ...leaf }
  return some.length === 1 ? some[0] : { anyOf: some }
}
