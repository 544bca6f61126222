type Schema = Readonly<Record<string, unknown>>

/**
 * Why a provider refuses a tool's schema; undefined if all accept it. The rules are those of OpenAI (an object at the root, without a union, and with
 * `properties`; `items` in each array), Anthropic (a valid schema of 2020-12, names of 64 ordinary characters) and Google (a type everywhere).
 */
export function unacceptable(schema: unknown): string | undefined {
  if (!isTable(schema) || schema['type'] !== 'object') return `schema must be a JSON Schema of 'type: "object"'`
  const union = ['anyOf', 'oneOf', 'allOf', 'enum', 'not', '$ref'].find((keyword) => keyword in schema)
  if (union !== undefined) return `schema must not have '${union}' at the top level`
  if (!isTable(schema['properties'])) return 'object schema missing properties'
  return brokenPart(schema, schema, 'parameters')
}

const says = ['type', '$ref', 'anyOf', 'oneOf', 'allOf']

function brokenPart(schema: unknown, root: Schema, path: string): string | undefined {
  if (!isTable(schema)) return `In context=${path}: ${JSON.stringify(schema)} is not of type 'object'`
  if (!says.some((keyword) => keyword in schema)) return `In context=${path}: schema must have a 'type' key`
  const { type, items, properties, required, $ref: reference } = schema
  const types = ['type' in schema ? type : []].flat()
  const odd = types.find(
    (one) => !['string', 'number', 'integer', 'boolean', 'object', 'array', 'null'].includes(one as string),
  )
  if (odd !== undefined) return `In context=${path}: ${JSON.stringify(odd)} is not a type`
  if (types.includes('array') && !isTable(items)) return `In context=${path}: array schema missing items`
  const names = properties === undefined ? [] : isTable(properties) ? Object.keys(properties) : undefined
  if (names === undefined) return `In context=${path}: properties is not of type 'object'`
  const name = names.find((one) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(one))
  if (name !== undefined)
    return `${path}.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$': ${name}`
  if (required !== undefined && !(Array.isArray(required) && required.every((one) => names.includes(one as string))))
    return `${path}.required: property is not defined: ${JSON.stringify(required)}`
  if (typeof reference === 'string' && !isTable(target(reference, root))) return `${path}: unresolvable ${reference}`
  const below = [
    ...['properties', '$defs', 'definitions'].flatMap((keyword) => Object.entries(schema[keyword] ?? {})),
    ...['anyOf', 'oneOf', 'allOf'].flatMap((keyword) => Object.entries(schema[keyword] ?? {})),
    ...(items === undefined ? [] : [['items', items] as const]),
    ...(isTable(schema['additionalProperties']) && Object.keys(schema['additionalProperties']).length > 0
      ? [['*', schema['additionalProperties']] as const]
      : []),
  ]
  return below.map(([at, part]) => brokenPart(part, root, `${path}.${at}`)).find((words) => words !== undefined)
}

function target(reference: string, root: Schema): unknown {
  const steps = reference.split('/').slice(1)
  return steps.reduce<unknown>((at, step) => (isTable(at) ? at[step] : undefined), root)
}

function isTable(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
