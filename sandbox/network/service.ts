import { authority, parseAuthority, parseHost } from './host.ts'
import { proxyPort } from './inside.ts'

/** A program outside the sandbox that accepts TCP connections. Commands reach it, and nothing else there, at the same port of their own `localhost`. */
export type Service = {
  /** Another name of `localhost` inside the sandbox. */
  readonly name?: string | undefined
  readonly host: string
  readonly port: number
  /** The addresses of the host. Absent: they are looked up once, on the host, when a sandbox is opened. */
  readonly addresses?: string[] | undefined
}

/** The maximum number of services. Each takes a listening socket of every command. */
const mostServices = 64

/**
 * Parses `[NAME=]HOST:PORT`. If it is invalid, returns a sentence that says what was expected.
 *
 * @internal
 */
export function parseService(text: string): Service | { readonly expected: string } {
  const expected = (what: string): { readonly expected: string } => ({
    expected: `${JSON.stringify(text)}: ${what}`,
  })
  const equals = text.indexOf('=')
  const target = parseAuthority(text.slice(equals + 1))
  if (target.host === undefined) return expected(`must be [NAME=]HOST:PORT, but ${target.why}`)
  const service = { host: target.host.text, port: target.port }
  if (equals === -1) return service
  const { host: name } = parseHost(text.slice(0, equals))
  if (name?.kind !== 'name') return expected('must have a host name before the "="')
  if (name.text === 'localhost') {
    return expected('must have another name than localhost, which every service has anyway')
  }
  return { name: name.text, ...service }
}

/**
 * Says why a list of services is impossible; undefined if it isn't.
 *
 * @internal
 */
export function faultOfServices(services: readonly Service[]): string | undefined {
  if (services.length > mostServices) return `must not have more than ${mostServices} services`
  const seen = new Set<number | string>()
  for (const { port, name = port } of services) {
    if (port === proxyPort) return `must not have a service at port ${proxyPort}, where commands find the proxy`
    if (seen.has(port)) return `must not have two services at port ${port}, because commands reach each at its own port`
    if (seen.has(name)) return `must not have two services with the name ${name}`
    seen.add(port).add(name)
  }
  return undefined
}

/**
 * `[NAME=]HOST:PORT`, as a user writes it.
 *
 * @internal
 */
export function writeService({ name, host, port }: Service): string {
  return `${name === undefined ? '' : `${name}=`}${authority(host, port)}`
}
