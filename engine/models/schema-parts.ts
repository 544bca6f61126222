/** A JSON Schema as it came, with nothing checked. */
export type Schema = Readonly<Record<string, unknown>>

/** Deeper parts of a schema are replaced by one that allows everything. No provider accepts schemas as deep as this. */
export const deepest = 40

/** The keywords whose value is a list of alternative or combined schemas. */
export const unions = ['anyOf', 'oneOf', 'allOf']

export function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The part of a schema that a reference leads to; undefined if there is none. */
export function refTarget(reference: string, root: Schema): unknown {
  if (!reference.startsWith('#')) return undefined
  let at: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~')
    at = isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined
  }
  return at
}

/** Puts keywords in the order in which the schema had them, and new ones at the end. */
export function inOrder(schema: Schema, result: Schema): Record<string, unknown> {
  const keywords = [...Object.keys(schema), ...Object.keys(result)]
  return Object.fromEntries(keywords.flatMap((name) => (Object.hasOwn(result, name) ? [[name, result[name]]] : [])))
}
