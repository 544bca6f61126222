/** The path and query of a request, in the only spelling in which they are judged and sent. */
export type Target = {
  /** The decoded parts of the path; a slash within a part is `%2F`. */
  readonly segments: readonly string[]
  readonly path: string
  /** Empty, or beginning with `?`. */
  readonly query: string
}

/** Queries that some servers read as something else than a parameter of the request: as a credential, a user or a method. */
const readOtherwise =
  /^(?:_?_method|x-http-method|(?:(?:access|private|job|deploy|auth|oauth|id|api|refresh)[_-]?)?token|sudo|client[_-]?secret|api[_-]?key|authorization)(?:[[-].*)?$/i

/** Whether some servers read a parameter of this name as something else than data. */
export function isReadOtherwise(name: string): boolean {
  return readOtherwise.test(name.trim())
}

const mostSegments = 100

/**
 * Reads the target of a request. Servers disagree about dots, empty parts, escapes of escapes, backslashes and parameters of a part, so a target with any
 * of these isn't understood.
 */
export function normalizeTarget(raw: string): Target | { readonly why: string } {
  const [, path = '', query = ''] = /^(\/[^?#]*)(\?[^#]*)?$/.exec(raw) ?? []
  if (path === '') return { why: 'it has no path' }
  if (raw.length > 16_384) return { why: 'it is too long' }
  if (/[^!-~]|["<>\\^`{|}]/.test(path)) return { why: 'its path contains a character that must be escaped' }
  const parts = path.slice(1).split('/')
  const isFolder = parts.length > 1 && parts.at(-1) === ''
  if (isFolder) parts.pop()
  if (parts.length > mostSegments) return { why: 'its path has too many parts' }
  const segments: string[] = []
  for (const part of path === '/' ? [] : parts) {
    const segment = decodeSegment(part)
    if (segment === undefined) return { why: `${JSON.stringify(part)} in its path has more than one meaning` }
    segments.push(segment)
  }
  const bad = faultOfQuery(query)
  if (bad !== undefined) return { why: bad }
  const spelled = segments.map((segment) => segment.split('%2F').map(encodeSegment).join('%2F'))
  return { segments, path: `/${spelled.join('/')}${isFolder ? '/' : ''}`, query }
}

function decodeSegment(part: string): string | undefined {
  const pieces = part.split(/%2f/i)
  const texts = pieces.map(decoded)
  if (texts.some((piece) => piece === undefined || /^\.{0,2}$/.test(piece) || /[%;\\/\p{Cc}]/u.test(piece)))
    return undefined
  return texts.join('%2F')
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replace(/%(?:40|3A|24|26|2B|2C|3D)/g, decodeURIComponent)
}

function faultOfQuery(query: string): string | undefined {
  if (/[^!-~]|["<>\\^`]/.test(query)) return 'its query contains a character that must be escaped'
  for (const pair of query.slice(1).split(/[&;]/)) {
    const name = decoded((pair.split('=')[0] ?? '').replaceAll('+', ' '))
    if (decoded(pair) === undefined || name === undefined || name.includes('\0'))
      return 'its query is not escaped correctly'
    if (isReadOtherwise(name)) return `its query has the parameter ${JSON.stringify(name)}, which is not for data`
  }
  return undefined
}
