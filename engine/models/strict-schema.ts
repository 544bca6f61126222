/**
 * Whether OpenAI's strict mode takes a schema: every object lists all of its properties as required and allows no
 * others (https://platform.openai.com/docs/guides/structured-outputs#supported-schemas). Sent as strict regardless, any
 * other schema is refused.
 */
export function isStrict(schema: unknown): boolean {
  if (Array.isArray(schema)) return schema.every(isStrict)
  if (typeof schema !== 'object' || schema === null) return true
  return isClosed(schema as Readonly<Record<string, unknown>>) && Object.values(schema).every(isStrict)
}

function isClosed(schema: Readonly<Record<string, unknown>>): boolean {
  const { type, properties, required, additionalProperties } = schema
  const isObject = type === 'object' || (Array.isArray(type) && type.includes('object'))
  if (!isObject) return true
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return additionalProperties === false && Array.isArray(required) && names.every((name) => required.includes(name))
}
