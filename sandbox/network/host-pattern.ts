import { addressKind } from './address.ts'
import { authority, parseHost, type Host } from './host.ts'

/** A host, or all hosts below a name, with the ports that commands may connect to. */
export type HostPattern = {
  /** The pattern as the user wrote it, for messages. */
  readonly text: string
  readonly host: Host
  /** Whether the pattern is `*.NAME`, which means all hosts below the name, but not the name itself. */
  readonly below: boolean
  /** The allowed ports; `any` if the pattern ends with `:*`. */
  readonly ports: readonly number[] | 'any'
  /** Whether connections to a host with a non-public address are allowed. */
  readonly allowPrivate: boolean
}

/**
 * An entry of a policy's allow-list: `HOST` or `*.HOST`, with or without `:PORT` or `:*`. An object with `allowPrivate` is for a host that may be in
 * a private network.
 */
export type HostPatternInput = string | { readonly host: string; readonly allowPrivate?: boolean | undefined }

/** The ports that a pattern without a port allows: those of http and https. */
const usualPorts: readonly number[] = [80, 443]

/** Parses a pattern. If it is invalid, returns a sentence that says what was expected. */
export function parsePattern(input: HostPatternInput): HostPattern | { readonly expected: string } {
  const { host: text, allowPrivate = false } = typeof input === 'string' ? { host: input } : input
  const expected = (what: string): { readonly expected: string } => ({ expected: `${JSON.stringify(text)}: ${what}` })
  const match = /^(\*\.)?(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}|\*))?$/.exec(text)
  if (match === null) {
    return expected('must be HOST, *.HOST, HOST:PORT or HOST:*, with no scheme or path, and IPv6 in brackets')
  }
  const [, star, name = '', port] = match
  if (name === '*') return expected('must name a host; for access to the whole network, use the network mode "full"')
  const parsed = parseHost(name)
  if (parsed.host === undefined) return expected(`must name a host, but ${parsed.why}`)
  const below = star !== undefined
  if (below && parsed.host.kind === 'address') return expected('must not have a wildcard in front of an IP address')
  if (below && !parsed.host.text.includes('.')) return expected('must not allow a whole top-level domain')
  if (below && allowPrivate) return expected('must name a single host, without a wildcard, because allowPrivate is set')
  if (port !== undefined && port !== '*' && !isPort(Number(port))) return expected('must have a port from 1 to 65535')
  return {
    text,
    host: parsed.host,
    below,
    ports: port === undefined ? usualPorts : port === '*' ? 'any' : [Number(port)],
    // Users who write an address know whether it is in a private network, so it needs no further permission.
    allowPrivate: allowPrivate || parsed.host.kind === 'address',
  }
}

/**
 * The service that must be named in place of a pattern for the loopback interface, as `HOST:PORT`; undefined for any other pattern. Commands have a
 * loopback interface of their own, and their programs use no proxy for it, so the pattern would have no effect.
 *
 * @example console.log(serviceInstead('localhost:5432')) // localhost:5432
 */
export function serviceInstead(input: HostPatternInput): string | undefined {
  const pattern = parsePattern(input)
  if ('expected' in pattern || !isLoopback(pattern.host)) return undefined
  const { host, ports } = pattern
  const [port = 'PORT'] = ports === 'any' || ports === usualPorts ? [] : ports
  return authority(host.kind === 'name' ? 'localhost' : host.text, port)
}

/** Whether a host is in the loopback interface of whoever names it. */
export function isLoopback({ kind, text }: Host): boolean {
  return kind === 'name' ? /(?:^|\.)localhost$/.test(text) : addressKind(text) === 'loopback'
}

/** Parses a list of patterns that has already been checked, such as the list in a parsed policy. */
export function parsePatterns(allow: readonly HostPatternInput[]): readonly HostPattern[] {
  return allow.map(parsePattern).filter((pattern): pattern is HostPattern => 'host' in pattern)
}

/** The patterns that match a host and port. If there are none, the connection is refused. */
export function matchingPatterns(patterns: readonly HostPattern[], host: Host, port: number): readonly HostPattern[] {
  return patterns.filter((pattern) => coversHost(pattern, host) && coversPort(pattern, port))
}

/** Whether the pattern matches the host, whatever the port. */
export function coversHost(pattern: HostPattern, host: Host): boolean {
  if (pattern.host.kind !== host.kind) return false
  return pattern.below ? host.text.endsWith(`.${pattern.host.text}`) : host.text === pattern.host.text
}

function coversPort(pattern: HostPattern, port: number): boolean {
  return pattern.ports === 'any' || pattern.ports.includes(port)
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535
}
