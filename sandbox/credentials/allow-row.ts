import { normalizeTarget, type Target } from './request-target.ts'

/** A row of a credential's `allow`. `text` is what the user wrote. */
export type AllowRow = { readonly text: string } & (
  | {
      readonly kind: 'http'
      readonly method: string
      /** Absent: every host of the credential. */
      readonly host: string | undefined
      readonly segments: readonly string[]
    }
  | { readonly kind: 'graphql'; readonly operation: 'query' | 'mutation' | undefined; readonly field: string }
  /** `ref` is absent for fetching. `path` is that of the repository; absent: every repository. */
  | { readonly kind: 'git'; readonly ref: string | undefined; readonly path: string | undefined }
)

/** What a request does. */
export type Operation =
  | { readonly kind: 'http'; readonly method: string; readonly host: string; readonly target: Target }
  | { readonly kind: 'graphql'; readonly operation: 'query' | 'mutation'; readonly field: string }
  | { readonly kind: 'git-fetch'; readonly path: string }
  /** `ref` is absent while a push only asks what is there. */
  | { readonly kind: 'git-push'; readonly path: string; readonly ref: string | undefined }

const forms =
  '"METHOD /path" (with "*" for one part of the path, and "**" for any number), "METHOD HOST/path", "graphql [query|mutation] FIELD", "git-fetch [/REPOSITORY]" or "git-push REF [/REPOSITORY]"'

/** Reads a row of `allow`. If it is invalid, returns a sentence that says what was expected. */
export function parseAllowRow(text: string): AllowRow | { readonly expected: string } {
  const expected = { expected: `${JSON.stringify(text)}: must be ${forms}` }
  const [verb = '', ...words] = text.trim().split(/\s+/)
  switch (verb) {
    case 'graphql': {
      const field = words.at(-1) ?? ''
      const operation = words.length === 2 ? words[0] : undefined
      if (words.length > 2 || !/^(?:\*|[_A-Za-z]\w*)$/.test(field)) return expected
      if (operation !== undefined && operation !== 'query' && operation !== 'mutation') return expected
      return { text, kind: 'graphql', operation, field }
    }
    case 'git-fetch':
    case 'git-push': {
      const ref = verb === 'git-push' ? words.shift() : undefined
      if (verb === 'git-push' && !/^refs\/[^\s:?[\\^~]+$/.test(ref ?? '')) return expected
      const [path, ...more] = words
      if (more.length > 0 || (path !== undefined && !path.startsWith('/'))) return expected
      return { text, kind: 'git', ref, path: path === undefined ? undefined : repositoryAt(path) }
    }
    default: {
      const [where = '', ...more] = words
      const slash = where.indexOf('/')
      if (!/^(?:\*|[A-Z]{1,20})$/.test(verb) || slash === -1 || more.length > 0) return expected
      const path = where.slice(slash)
      const read = normalizeTarget(path.replaceAll('*', 'x'))
      if ('why' in read || read.query !== '') return expected
      const host = slash === 0 ? undefined : where.slice(0, slash).toLowerCase()
      return { text, kind: 'http', method: verb, host, segments: segmentsOf(path) }
    }
  }
}

/** Whether a row allows an operation. */
export function allows(row: AllowRow, operation: Operation): boolean {
  switch (operation.kind) {
    case 'http':
      return (
        row.kind === 'http' &&
        (row.method === '*' ||
          row.method === operation.method ||
          (row.method === 'GET' && operation.method === 'HEAD')) &&
        (row.host === undefined || row.host === operation.host) &&
        matchesSegments(row.segments, operation.target.segments)
      )
    case 'graphql':
      return (
        row.kind === 'graphql' &&
        (row.operation ?? operation.operation) === operation.operation &&
        (row.field === '*' || row.field === operation.field)
      )
    case 'git-fetch':
      return row.kind === 'git' && (row.path ?? operation.path) === operation.path
    case 'git-push':
      if (row.kind !== 'git' || row.ref === undefined || (row.path ?? operation.path) !== operation.path) return false
      return operation.ref === undefined || matchesText(row.ref, operation.ref)
    default:
      return operation satisfies never
  }
}

/** The path of a repository, however a remote writes it. */
export function repositoryAt(path: string): string {
  return path.replace(/\/$/, '').replace(/\.git$/, '')
}

/** Whether a path has the form of a pattern: `**` stands for any number of segments, `*` for any text without a slash in any coding. */
export function matchesSegments(pattern: readonly string[], path: readonly string[]): boolean {
  const [first, ...rest] = pattern
  if (first === undefined) return path.length === 0
  if (first === '**') return path.some((_, at) => matchesSegments(rest, path.slice(at))) || matchesSegments(rest, [])
  const [segment, ...others] = path
  if (segment === undefined) return false
  const slashes = first.toLowerCase().includes('%2f') || !segment.includes('%2F')
  return slashes && matchesText(first.replaceAll('%2f', '%2F'), segment) && matchesSegments(rest, others)
}

/** The parts of a path, without those that a slash at the end would add. */
export function segmentsOf(path: string): readonly string[] {
  return path.split('/').filter((part) => part !== '')
}

/** Whether a text has the form of a pattern in which `*` stands for any text. */
function matchesText(pattern: string, text: string): boolean {
  const [first = '', ...parts] = pattern.split('*')
  const last = parts.pop()
  if (last === undefined) return pattern === text
  if (!text.startsWith(first) || text.length < first.length + last.length || !text.endsWith(last)) return false
  let at = first.length
  for (const part of parts) {
    const found = text.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return at <= text.length - last.length
}
