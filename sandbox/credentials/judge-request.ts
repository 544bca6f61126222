import { allows, repositoryAt, type AllowRow, type Operation } from './allow-row.ts'
import type { ReadCredential } from './credential.ts'
import { refusedAsMinting } from './minting.ts'
import type { Target } from './request-target.ts'

/** What a request is by its method and target. The bodies of GraphQL requests and pushes say more. */
export type RequestKind =
  | { readonly kind: 'graphql' | 'push' }
  | { readonly kind: 'operation'; readonly operation: Operation; readonly isGit: boolean }

const services = ['git-upload-pack', 'git-receive-pack']

/** Finds out what a request is, or why it isn't understood. */
export function kindOfRequest(method: string, host: string, target: Target): RequestKind | { readonly why: string } {
  const { segments, query } = target
  const names = segments.map((part) => part.toLowerCase())
  const service = services.find((name) => names.includes(name)) ?? services.find((name) => query.includes(name))
  if (service !== undefined) return gitRequest(method, target, service)
  if (names.some((part) => /^graphi?ql(?:\.|$)/.test(part))) {
    return method === 'POST' && query === ''
      ? { kind: 'graphql' }
      : { why: 'a GraphQL request must be a POST without a query' }
  }
  return { kind: 'operation', operation: { kind: 'http', method, host, target }, isGit: false }
}

/** Git's smart protocol (gitprotocol-http(5)) has two requests for each of its two services. */
function gitRequest(
  method: string,
  { segments, path: sent, query }: Target,
  service: string,
): RequestKind | { readonly why: string } {
  const [isFetch, text] = [service === 'git-upload-pack', `/${segments.join('/')}`]
  const asks = method === 'GET' && query === `?service=${service}` && text.endsWith('/info/refs')
  const sends = method === 'POST' && query === '' && segments.at(-1) === service
  const path = repositoryAt(text.slice(0, -(asks ? '/info/refs' : `/${service}`).length))
  if ((!asks && !sends) || path === '' || sent.endsWith('/') || /git-(?:upload|receive)-pack/i.test(path)) {
    return { why: 'it is not one of the requests that git makes' }
  }
  if (isFetch) return { kind: 'operation', operation: { kind: 'git-fetch', path }, isGit: true }
  return sends
    ? { kind: 'push' }
    : { kind: 'operation', operation: { kind: 'git-push', path, ref: undefined }, isGit: true }
}

/** The repository of a push. */
export function repositoryOf({ segments }: Target): string {
  return repositoryAt(`/${segments.slice(0, -1).join('/')}`)
}

/** Why a credential may not be used for an operation; undefined if it may. */
export function refusalOf({ name, allow }: ReadCredential, operation: Operation): string | undefined {
  const allowing: readonly AllowRow[] = allow.filter((row) => allows(row, operation))
  if (allowing.length === 0) return `credentials.${name}.allow: no row covers ${describeOperation(operation)}`
  const minting = refusedAsMinting(operation, allowing)
  return minting === undefined ? undefined : `credentials.${name}: ${minting}`
}

/** Describes an operation as a row of `allow` would be written. */
export function describeOperation(operation: Operation): string {
  switch (operation.kind) {
    case 'http':
      return `${operation.method} ${operation.target.path.slice(0, 200)}`
    case 'graphql':
      return `graphql ${operation.operation} ${operation.field}`
    case 'git-fetch':
      return `git-fetch ${operation.path}`
    case 'git-push':
      return ['git-push', ...(operation.ref === undefined ? [] : [operation.ref]), operation.path].join(' ')
    default:
      return operation satisfies never
  }
}
