import { createHash } from 'node:crypto'
import { deepest, isSchema, refTarget, unions, type Schema } from './schema-parts.ts'

/** Returns the names under which properties are sent, for those that can't be sent under their own. */
export function sentNames(own: Schema): ReadonlyMap<string, string> {
  const names = new Set<string>()
  collectNames(own, names, 0)
  const taken = new Set([...names].filter(isFitting))
  const sent = new Map<string, string>()
  for (const name of names) {
    if (isFitting(name)) continue
    const plain = name.replace(/[^\w.-]+/g, '_').slice(0, 64)
    const mark = createHash('sha256').update(name).digest('hex').slice(0, 8)
    const fitting =
      plain === '' || plain === '_' || taken.has(plain) || name.length > 64 ? `${plain.slice(0, 55)}_${mark}` : plain
    taken.add(fitting)
    sent.set(name, fitting)
  }
  return sent
}

function isFitting(name: string): boolean {
  return /^[a-zA-Z0-9_.-]{1,64}$/.test(name)
}

function collectNames(schema: unknown, names: Set<string>, depth: number): void {
  if (typeof schema !== 'object' || schema === null || depth > deepest * 2) return
  if (Array.isArray(schema)) return schema.forEach((one) => collectNames(one, names, depth + 1))
  const { properties } = schema as Schema
  if (isSchema(properties)) for (const name of Object.keys(properties)) names.add(name)
  for (const [keyword, value] of Object.entries(schema)) {
    if (!['enum', 'const', 'default', 'examples', 'required'].includes(keyword)) collectNames(value, names, depth + 1)
  }
}

/** The names of properties in arguments, and which of them are sent under others. */
export type Naming = {
  readonly root: Schema
  /** Returns the tool's own name for a key, and its new name. `known`: the names of the tool's properties at this place. */
  readonly name: (key: string, known: ReadonlySet<string>) => { readonly own: string; readonly to: string }
}

/** Renames the properties of a value that a schema names. Other keys belong to the value, and stay. */
export function rename(value: unknown, schemas: readonly unknown[], naming: Naming): unknown {
  if (typeof value !== 'object' || value === null) return value
  const views = viewsOf(schemas, naming.root)
  if (views.length === 0) return value
  if (Array.isArray(value)) {
    const items = views.flatMap((view) => [view['items'], view['prefixItems']].flat())
    return value.map((one) => rename(one, items, naming))
  }
  const known = new Set(views.flatMap(({ properties }) => (isSchema(properties) ? Object.keys(properties) : [])))
  return Object.fromEntries(
    Object.entries(value).map(([key, below]) => {
      const { own, to } = naming.name(key, known)
      const schemasBelow = views.flatMap(({ properties, additionalProperties }) =>
        isSchema(properties) && Object.hasOwn(properties, own) ? [properties[own]] : [additionalProperties],
      )
      return [to, rename(below, schemasBelow, naming)]
    }),
  )
}

/** The schemas that may apply to a value: the given ones, what they refer to, and the variants of their unions. */
function viewsOf(schemas: readonly unknown[], root: Schema): readonly Schema[] {
  const views = new Set<Schema>()
  const visit = (schema: unknown): void => {
    if (!isSchema(schema) || views.has(schema)) return
    views.add(schema)
    if (typeof schema['$ref'] === 'string') visit(refTarget(schema['$ref'], root))
    for (const keyword of unions) if (Array.isArray(schema[keyword])) (schema[keyword] as unknown[]).forEach(visit)
  }
  schemas.forEach(visit)
  return [...views]
}
