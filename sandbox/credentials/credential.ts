import { isIP } from 'node:net'
import { authority, parseAuthority } from '../network/host.ts'
import { parseAllowRow, type AllowRow } from './allow-row.ts'

/**
 * How a credential is sent. `git`: with user name and password to git's own addresses, as a bearer token elsewhere. `header`: in a header of that name.
 */
type CredentialScheme = 'git' | 'bearer' | 'basic' | 'header'

/** A secret that the proxy adds to requests on their way out. The policy doesn't contain its value, which `readCredential` returns. */
export type Credential = {
  readonly name: string
  /** The only hosts that receive it, as `HOST` or `HOST:PORT`, always by TLS. */
  readonly hosts: readonly string[]
  readonly as: CredentialScheme
  /** The user name for `basic` and `git`. Absent: empty for `basic`; one that GitHub and GitLab take for `git`. */
  readonly user?: string | undefined
  /** The name of the header for `header`. */
  readonly header?: string | undefined
  /** The requests that may be made with it (see `parseAllowRow`). `[]` means none. */
  readonly allow: readonly string[]
}

/** A credential whose hosts and rows have been read. */
export type ReadCredential = Omit<Credential, 'hosts' | 'allow'> & {
  readonly hosts: readonly Origin[]
  readonly allow: readonly AllowRow[]
}

/** Where a credential is sent. */
export type Origin = { readonly host: string; readonly port: number }

const headerName = /^[A-Za-z\d-]{1,100}$/

/** Reads a credential, or says which of its keys is wrong, and what was expected. */
export function readCredential(
  given: Credential,
): ReadCredential | { readonly key: string; readonly expected: string } {
  const hosts: Origin[] = []
  for (const text of given.hosts) {
    const parsed = parseAuthority(text, 443)
    if (parsed.host === undefined) {
      return { key: 'hosts', expected: `${JSON.stringify(text)}: must be HOST or HOST:PORT, but ${parsed.why}` }
    }
    if (parsed.port === 80) return { key: 'hosts', expected: `${JSON.stringify(text)}: must be a port for https` }
    hosts.push({ host: parsed.host.text, port: parsed.port })
  }
  if (hosts.length === 0) return { key: 'hosts', expected: 'must name at least one host' }
  if (given.as === 'header' && !headerName.test(given.header ?? '')) {
    return { key: 'header', expected: 'must be the name of the header in which the credential is sent' }
  }
  if (given.user !== undefined && /[:\p{Cc}]/u.test(given.user)) {
    return { key: 'user', expected: 'must be a user name without ":"' }
  }
  const allow: AllowRow[] = []
  for (const text of given.allow) {
    const row = parseAllowRow(text)
    if ('expected' in row) return { key: 'allow', expected: row.expected }
    allow.push(row)
  }
  return { ...given, hosts, allow }
}

/** The credentials of a policy, whose schema has already checked them. */
export function readCredentials(given: readonly Credential[]): readonly ReadCredential[] {
  return given.map(readCredential).filter((read): read is ReadCredential => !('expected' in read))
}

/** The only names by which gh asks for GitHub without TLS (github.com/cli/go-gh, pkg/api/http_client.go). */
const namesForGh: Readonly<Record<string, string>> = {
  'github.com': 'github.localhost',
  'api.github.com': 'api.github.localhost',
  'uploads.github.com': 'uploads.github.localhost',
}

/** Where commands find an origin: the proxy answers for it without TLS. The port of https becomes that of http. */
export function insideOf(origin: Origin): string {
  const { host, port } = origin
  return plainOf(port === 443 ? { host: namesForGh[host] ?? host, port } : origin)
}

/** The address of an origin without TLS, under its own name. */
export function plainOf({ host, port }: Origin): string {
  return `http://${port === 443 ? authority(host, '').slice(0, -1) : authority(host, port)}`
}

/** All addresses at which commands find an origin. */
export function insideAddressesOf(origin: Origin): readonly string[] {
  return [insideOf(origin), plainOf(origin)]
}

/** The names that mean `localhost` to commands, because the proxy answers there for hosts of credentials at the port of http. */
export function namesInside(credentials: readonly Credential[]): readonly string[] {
  return readCredentials(credentials).flatMap(({ hosts }) =>
    hosts
      .filter(({ host, port }) => port === 443 && isIP(host) === 0)
      .flatMap((origin) => insideAddressesOf(origin).map((address) => new URL(address).hostname)),
  )
}

/**
 * Where commands find a host of a credential, which is given as `HOST` or `HOST:PORT`.
 *
 * @internal
 */
export function insideAddress(text: string): string {
  const { host, ...rest } = parseAuthority(text, 443)
  return host === undefined || !('port' in rest) ? `http://${text}` : insideOf({ host: host.text, port: rest.port })
}

/** The address of an origin. */
export function outsideOf(origin: Origin): string {
  return plainOf(origin).replace('http:', 'https:')
}
