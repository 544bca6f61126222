import { Kind, OperationTypeNode, parse, type DocumentNode, type SelectionSetNode } from 'graphql'
import type { Operation } from './allow-row.ts'

type GraphQL = Extract<Operation, { kind: 'graphql' }>

/** The names of a request's parameters (GraphQL over HTTP, 5.4). An extension can name a stored document in place of `query`. */
const known: ReadonlySet<string> = new Set(['query', 'operationName', 'variables'])

/**
 * Reads the body of a GraphQL request. Returns what all of its operations do, whichever of them is chosen, and the body to send, which servers can't read
 * in any other way; or why it isn't understood.
 */
export function readGraphql(
  body: string,
): { readonly operations: readonly GraphQL[]; readonly body: string } | { readonly why: string } {
  let request: unknown
  try {
    request = JSON.parse(body)
  } catch {
    return { why: 'the body is not JSON' }
  }
  if (Array.isArray(request)) return { why: 'a batch of GraphQL requests is not understood: send one at a time' }
  if (typeof request !== 'object' || request === null) return { why: 'the body is not a GraphQL request' }
  const unknown = Object.keys(request).find((key) => !known.has(key))
  if (unknown !== undefined) return { why: `the parameter ${JSON.stringify(unknown.slice(0, 40))} is not understood` }
  if (!('query' in request) || typeof request.query !== 'string') return { why: 'the body has no GraphQL document' }
  let document: DocumentNode
  try {
    document = parse(request.query, { maxTokens: 20_000 })
  } catch (error) {
    return { why: `the GraphQL document can't be parsed (${error instanceof Error ? error.message : 'no reason'})` }
  }
  const operations = operationsIn(document)
  return typeof operations === 'string' ? { why: operations } : { operations, body: JSON.stringify(request) }
}

function operationsIn({ definitions }: DocumentNode): readonly GraphQL[] | string {
  const fragments = new Map<string, SelectionSetNode>()
  for (const definition of definitions) {
    if (definition.kind !== Kind.FRAGMENT_DEFINITION) continue
    if (fragments.has(definition.name.value)) return 'the GraphQL document has two fragments of one name'
    fragments.set(definition.name.value, definition.selectionSet)
  }
  const found: GraphQL[] = []
  for (const definition of definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION) continue
    if (definition.kind !== Kind.OPERATION_DEFINITION) return 'the GraphQL document contains more than operations'
    const { operation, selectionSet } = definition
    if (operation === OperationTypeNode.SUBSCRIPTION) return 'GraphQL subscriptions are not understood'
    const fields = fieldsOf(selectionSet, fragments, new Set())
    if (fields === undefined) return 'the GraphQL document uses a fragment that it lacks'
    found.push(...fields.map((field) => ({ kind: 'graphql', operation, field }) as const))
  }
  return found.length === 0 ? 'the GraphQL document has no operation' : found
}

/** The names of the fields in a selection, without regard to their aliases and conditions. */
function fieldsOf(
  { selections }: SelectionSetNode,
  fragments: ReadonlyMap<string, SelectionSetNode>,
  seen: Set<string>,
): readonly string[] | undefined {
  const fields: string[] = []
  for (const selection of selections) {
    if (selection.kind === Kind.FIELD) {
      fields.push(selection.name.value)
      continue
    }
    if (selection.kind === Kind.FRAGMENT_SPREAD && seen.has(selection.name.value)) continue
    if (selection.kind === Kind.FRAGMENT_SPREAD) seen.add(selection.name.value)
    const inner = selection.kind === Kind.INLINE_FRAGMENT ? selection.selectionSet : fragments.get(selection.name.value)
    const more = inner && fieldsOf(inner, fragments, seen)
    if (more === undefined) return undefined
    fields.push(...more)
  }
  return fields
}
