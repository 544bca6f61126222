/** Keywords whose value maps names to schemas. The names are those of arguments or definitions, so none of them is a keyword. */
const named: ReadonlySet<string> = new Set(['properties', '$defs', 'definitions', 'dependentSchemas'])

/** Keywords whose value is data, not a schema. */
const data: ReadonlySet<string> = new Set(['const', 'enum', 'default', 'examples', 'required'])

/** Keywords for the properties that no other keyword matches. If `patternProperties` is removed, they would also apply to the properties that it matched. */
const others: ReadonlySet<string> = new Set(['additionalProperties', 'unevaluatedProperties'])

/**
 * Removes the regular expressions from a JSON Schema (`pattern` and `patternProperties`). The result accepts everything that the schema accepts, unless
 * the schema negates an expression with `not` or counts matches with `oneOf`.
 */
export function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns)
  if (typeof schema !== 'object' || schema === null) return schema
  const isOpen = 'patternProperties' in schema
  const entries = Object.entries(schema).flatMap(([key, value]: [string, unknown]): [string, unknown][] => {
    if (key === 'pattern' || key === 'patternProperties' || (isOpen && others.has(key))) return []
    if (data.has(key)) return [[key, value]]
    return [[key, named.has(key) ? eachOf(value) : withoutPatterns(value)]]
  })
  return Object.fromEntries(entries)
}

function eachOf(schemas: unknown): unknown {
  if (typeof schemas !== 'object' || schemas === null) return schemas
  return Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, withoutPatterns(schema)]))
}
