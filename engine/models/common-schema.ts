type Schema = Readonly<Record<string, unknown>>

/**
 * Reduces a tool's schema to the part that every OpenAI-compatible server understands. llama.cpp, for example, turns the schema into a grammar, and refuses the
 * whole request if there is a pattern with a lookahead, a length limit of 2000 or more, or an empty schema
 * (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md#json-schemas--gbnf). What the reduced schema leaves out is checked by this program
 * itself; maximum lengths are also mentioned in the description.
 */
export function commonSchema(schema: Schema): Record<string, unknown> {
  const known = reduced.get(schema) ?? { properties: {}, ...reduce(schema), type: 'object' }
  reduced.set(schema, known)
  return known
}

const reduced = new WeakMap<Schema, Record<string, unknown>>()

const kept = new Set(['type', 'enum', 'const', 'required', 'title', 'description', 'default', '$ref'])
const lists = new Set(['anyOf', 'oneOf', 'allOf'])
const tables = new Set(['properties', '$defs', 'definitions'])
/**
 * The largest absolute value of a `minimum` or `maximum` that the reduced schema keeps. Larger bounds are left out, because they exclude hardly any
 * value.
 */
const largest = 1_000_000_000

const anything = { type: ['string', 'number', 'boolean', 'object', 'array', 'null'] }

function reduce(schema: unknown): Record<string, unknown> {
  if (typeof schema !== 'object' || schema === null) return { ...anything }
  const fields = Object.entries(schema).flatMap(([keyword, value]): (readonly [string, unknown])[] => {
    if (kept.has(keyword)) return [[keyword, value]]
    if (keyword === 'items') return [[keyword, reduce(value)]]
    if (keyword === 'additionalProperties') return [[keyword, reduceOthers(value)]]
    if (lists.has(keyword) && Array.isArray(value)) return [[keyword, value.map(reduce)]]
    if (tables.has(keyword) && typeof value === 'object' && value !== null) {
      return [[keyword, Object.fromEntries(Object.entries(value).map(([name, below]) => [name, reduce(below)]))]]
    }
    const isBound = (keyword === 'minimum' || keyword === 'maximum') && typeof value === 'number'
    return isBound && Math.abs(value) <= largest ? [[keyword, value]] : []
  })
  const less = Object.fromEntries(fields)
  const says = ['type', 'enum', 'const', '$ref', 'properties', ...lists].some((keyword) => Object.hasOwn(less, keyword))
  return withLimits(schema as Schema, says ? less : { ...anything, ...less })
}

/** The schema of properties without a name. */
function reduceOthers(schema: unknown): unknown {
  if (typeof schema === 'boolean') return schema
  const allowsAll = typeof schema === 'object' && schema !== null && Object.keys(schema).length === 0
  return allowsAll || reduce(schema)
}

const limits: readonly (readonly [keyword: string, words: (limit: number) => string])[] = [
  ['maxLength', (limit) => `At most ${limit} characters.`],
  ['maxItems', (limit) => `At most ${limit}.`],
]

function withLimits(schema: Schema, less: Record<string, unknown>): Record<string, unknown> {
  const words = limits.flatMap(([keyword, say]) => {
    const limit = schema[keyword]
    return typeof limit === 'number' ? [say(limit)] : []
  })
  if (words.length === 0) return less
  const { description } = less
  return { ...less, description: [...(typeof description === 'string' ? [description] : []), ...words].join(' ') }
}
