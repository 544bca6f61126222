/**
 * The JSON Schema keywords that all providers support: those whose value is one schema, a list of schemas or a table of schemas, those that
 * contain no schema, and references.
 */
const one = ['items']
const lists = ['anyOf']
const tables = ['properties', '$defs', 'definitions']
const plain = ['type', 'enum', 'const', 'required', 'additionalProperties', 'title', 'description', 'format']
const references = ['$ref', '$schema']
const known = new Set([...one, ...lists, ...tables, ...plain, ...references])

/**
 * Whether providers can enforce a schema: it uses only keywords that they all support, and every object lists all of its properties as required and
 * allows no others (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas,
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs). Providers refuse any other schema if the request marks it as strict.
 */
export function isStrict(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return false
  const table = schema as Readonly<Record<string, unknown>>
  if (!Object.keys(table).every((keyword) => known.has(keyword))) return false
  return isClosed(table) && schemasBelow(table).every(isStrict)
}

function schemasBelow(schema: Readonly<Record<string, unknown>>): readonly unknown[] {
  return [
    ...one.flatMap((keyword) => (Object.hasOwn(schema, keyword) ? [schema[keyword]] : [])),
    ...[...lists, ...tables].flatMap((keyword) => {
      const below = schema[keyword]
      return typeof below === 'object' && below !== null ? (Object.values(below) as unknown[]) : []
    }),
  ]
}

function isClosed(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, additionalProperties } = schema
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (!isObject) return true
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name))
}
