type Schema = Readonly<Record<string, unknown>>

const says = ['type', 'enum', 'const', '$ref', 'properties', 'anyOf', 'oneOf', 'allOf', 'additionalProperties']
const notUnderstood = ['not', 'if', 'then', 'else', 'patternProperties', 'prefixItems', 'dependentSchemas']
const mostRepetitions = 2000

/**
 * Why llama.cpp can't make a grammar from a tool's schema; undefined if it can
 * (https://github.com/ggml-org/llama.cpp/blob/master/grammars/README.md#json-schemas--gbnf). llama.cpp reads a lookahead as a name, limits
 * repetitions to what its sampler can handle, and doesn't support an empty schema.
 */
export function ungrammatical(schema: unknown, path = 'parameters'): string | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return `${path}: Unrecognized schema`
  const table = schema as Schema
  if (!says.some((keyword) => Object.hasOwn(table, keyword)))
    return `${path}: Unrecognized schema: ${JSON.stringify(schema)}`
  const unknown = notUnderstood.find((keyword) => Object.hasOwn(table, keyword))
  if (unknown !== undefined) return `${path}: Unrecognized schema: ${unknown}`
  const { pattern, maxLength, maxItems, $ref: reference } = table
  if (typeof pattern === 'string' && (!/^\^[^]*\$$/.test(pattern) || pattern.includes('(?')))
    return `${path}: Pattern must start with '^' and end with '$', and have no lookahead: ${pattern}`
  for (const limit of [maxLength, maxItems]) {
    if (typeof limit === 'number' && limit >= mostRepetitions)
      return `${path}: number of repetitions exceeds sane defaults`
  }
  if (typeof reference === 'string' && !reference.startsWith('#/')) return `${path}: Unsupported ref: ${reference}`
  return schemasBelow(table, path)
    .map(([below, at]) => ungrammatical(below, at))
    .find((words) => words !== undefined)
}

function schemasBelow(schema: Schema, path: string): readonly (readonly [unknown, string])[] {
  const tables = ['properties', '$defs'].flatMap((keyword) =>
    Object.entries((schema[keyword] ?? {}) as Schema).map(([name, below]) => [below, `${path}.${name}`] as const),
  )
  const lists = ['anyOf', 'oneOf', 'allOf'].flatMap((keyword) =>
    ((schema[keyword] ?? []) as readonly unknown[]).map((below) => [below, `${path}.${keyword}`] as const),
  )
  const { additionalProperties: more, items } = schema
  return [
    ...tables,
    ...lists,
    ...(items === undefined ? [] : [[items, `${path}[]`] as const]),
    ...(typeof more === 'object' ? [[more, `${path}.*`] as const] : []),
  ]
}
