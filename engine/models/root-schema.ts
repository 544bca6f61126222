import { isDeepStrictEqual } from 'node:util'
import { inOrder, isSchema, refTarget, type Schema } from './schema-parts.ts'

/** The schema with an object at its root: references are followed, and the properties of a union's variants become properties of the root. */
export function rootOf(own: Schema): Schema {
  const { anyOf: _a, oneOf: _b, allOf: _c, enum: _d, const: _e, not: _f, $ref: _g, type: _h, ...rest } = own
  const { properties, required } = rootParts(own, own, new Set())
  const isPlain = !['anyOf', 'oneOf', 'allOf', '$ref'].some((keyword) => Object.hasOwn(own, keyword))
  const { properties: _p, required: _r, ...others } = rest
  const fixed = isPlain ? { ...rest } : { ...others, properties, ...(required.length === 0 ? {} : { required }) }
  // A root that forbids all properties but its own would forbid those of the variants.
  if (!isPlain && 'additionalProperties' in fixed && Object.keys(properties).length > 0)
    delete fixed['additionalProperties']
  return inOrder(own, { ...fixed, type: 'object' })
}

type Parts = { readonly properties: Readonly<Record<string, unknown>>; readonly required: readonly string[] }

function rootParts(schema: unknown, root: Schema, seen: Set<unknown>): Parts {
  // A schema that refers to itself adds nothing.
  if (!isSchema(schema) || seen.has(schema)) return { properties: {}, required: [] }
  seen.add(schema)
  const { properties, required } = schema
  const own: Parts = {
    properties: isSchema(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  }
  const parts = (keyword: string): readonly Parts[] => {
    const list = schema[keyword]
    return Array.isArray(list) ? list.map((one) => rootParts(one, root, seen)) : []
  }
  const target = typeof schema['$ref'] === 'string' ? refTarget(schema['$ref'], root) : undefined
  const all = [own, ...parts('allOf'), ...(target === undefined ? [] : [rootParts(target, root, seen)])]
  const each = ['anyOf', 'oneOf'].map(parts).filter((list) => list.length > 0)
  const common = each.flatMap(([first, ...others]) =>
    (first?.required ?? []).filter((name) => others.every((other) => other.required.includes(name))),
  )
  return {
    properties: [...all, ...each.flat()].reduce((sum, part) => joined(sum, part.properties), {}),
    required: [...all.flatMap((part) => part.required), ...common].filter(
      (name, at, list) => list.indexOf(name) === at,
    ),
  }
}

/** Joins two tables of properties. A property with two schemas may match either. */
function joined(one: Schema, other: Schema): Schema {
  const result: Record<string, unknown> = { ...one }
  for (const [name, schema] of Object.entries(other)) {
    const before = Object.hasOwn(result, name) ? result[name] : undefined
    if (before === undefined || isDeepStrictEqual(before, schema)) result[name] = schema
    else {
      const variants = isSchema(before) && joints.has(before) ? (before['anyOf'] as unknown[]) : [before]
      const both = { anyOf: [...variants, schema] }
      joints.add(both)
      result[name] = both
    }
  }
  return result
}

/** The unions that `joined` has made. */
const joints = new WeakSet<object>()
