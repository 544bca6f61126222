import type { Remedy } from '../denials/denial-remedy.ts'
import type { Denial } from '../sandbox.ts'
import { addressKind, isOwnAddress, type AddressKind } from './address.ts'
import { authority, parseHost, type Host } from './host.ts'
import {
  coversHost,
  isLoopback,
  matchingPatterns,
  parsePatterns,
  type HostPattern,
  type HostPatternInput,
} from './host-pattern.ts'

/** How a program reaches the proxy: with one of three protocols, at the port of a service, or to have a credential added. */
export type Route = 'connect' | 'http' | 'socks5' | 'service' | 'credential'

/** The proxy's decision about one attempt to connect. */
export type NetworkDecision = { readonly via: Route } & (
  | { readonly verdict: 'allowed'; readonly host: string; readonly port: number; readonly pattern: string }
  | { readonly verdict: 'refused'; readonly denial: Denial }
)

const noEntry = 'network.allow: no entry covers this host'

/** Looks up the host and port in the allow-list. Returns the patterns that match, or the denial. This is called before the name is resolved. */
export function decideHost(
  patterns: readonly HostPattern[],
  host: Host,
  port: number,
): { readonly patterns: readonly [HostPattern, ...HostPattern[]] } | { readonly denial: Denial } {
  const [first, ...more] = matchingPatterns(patterns, host, port)
  if (first !== undefined) return { patterns: [first, ...more] }
  const known = patterns.find((pattern) => coversHost(pattern, host))
  const usual = host.kind === 'name' && (port === 80 || port === 443)
  const entry = usual ? host.text : authority(host.text, port)
  const rule = known === undefined ? noEntry : `network.allow: ${known.text} does not cover port ${port}`
  if (isLoopback(host)) {
    const service = authority(host.text, port)
    return { denial: denied(service, rule, { kind: 'add-service', service }) }
  }
  const remedy = port === 22 ? ({ kind: 'use-credential', host: host.text } as const) : undefined
  return { denial: denied(authority(host.text, port), rule, remedy ?? { kind: 'allow-host', host: entry }) }
}

/**
 * Decides whether the allow-list permits connections to the current addresses of a host, and returns the denial if it doesn't. An address that the
 * allow-list itself names is always permitted. For a name, a single forbidden address is enough for a denial, because no legitimate name has public
 * addresses together with addresses of this machine or its network.
 */
export function decideAddresses(
  patterns: readonly HostPattern[],
  { host, port }: { readonly host: Host; readonly port: number },
  addresses: readonly { readonly address: string; readonly kind: AddressKind | 'own' }[],
): Denial | undefined {
  const mayBePrivate = patterns.some(({ allowPrivate }) => allowPrivate)
  for (const { address, kind } of addresses) {
    if (kind === 'public' || host.kind === 'address') continue
    const subject = `${authority(host.text, port)}, which is ${address}`
    // Allowing a name must not give access to credentials, because whoever controls the name could make it resolve to a metadata service.
    if (kind === 'metadata') {
      const rule = 'network: cloud metadata services are refused, because they give out credentials'
      return denied(subject, rule, { kind: 'allow-host', host: authority(address, port) })
    }
    if (mayBePrivate) continue
    const entry = { host: authority(host.text, port), allowPrivate: true }
    return denied(subject, `network: ${meaning[kind]} is refused`, { kind: 'allow-host', host: entry })
  }
  return undefined
}

/**
 * Explains an error message about an unreachable host. If the host isn't allowed, the proxy refused it. If it is allowed, the program didn't use the
 * proxy, without which nothing outside the sandbox can be reached. The allow-list doesn't apply to the sandbox's own loopback interface, so errors
 * about that interface are not explained.
 */
export function judgeUnreachable(allow: readonly HostPatternInput[], text: string): readonly Denial[] {
  const { host } = parseHost(text)
  if (host === undefined || host.text === 'localhost') return []
  if (host.kind === 'address' && ['loopback', 'reserved'].includes(addressKind(host.text))) return []
  const known = parsePatterns(allow).find((pattern) => coversHost(pattern, host))
  if (known === undefined) {
    return [denied(host.text, noEntry, { kind: 'allow-host', host: host.text })]
  }
  const past = 'network: programs can reach hosts only through the proxy in HTTPS_PROXY'
  return [{ ...denied(host.text, past, otherwise('make the program use that proxy')), certainty: 'suspected' }]
}

/** The kind of an address, or `own` if it is a public address of this machine. */
export function kindHere(address: string): AddressKind | 'own' {
  const kind = addressKind(address)
  return kind === 'public' && isOwnAddress(address) ? 'own' : kind
}

/**
 * A description of an address of this machine or outside the public network, such as "a loopback address"; undefined for any other address.
 *
 * @example console.log(describeAddress('169.254.169.254')) // a cloud's metadata service
 */
export function describeAddress(address: string): string | undefined {
  const kind = kindHere(address)
  if (kind === 'public') return undefined
  return kind === 'metadata' ? "a cloud's metadata service" : meaning[kind]
}

/** The denial for a text that doesn't name a host and a port. */
export function refuseText(text: string, why: string): Denial {
  // The text is escaped, because it comes from a possibly hostile program and is shown in logs and on terminals.
  const shown = JSON.stringify(text.slice(0, 200)).replace(/[^ -~]/g, '?')
  return denied(shown, `network: ${why}`, otherwise('name the host plainly, as in example.com:443'))
}

/** The denial for a host that is on the allow-list but forbidden by another rule. */
export function forbiddenHost(host: string, port: number, why: string): Denial {
  return denied(authority(host, port), why, otherwise('remove the rule that forbids this host'))
}

const meaning: Readonly<Record<Exclude<AddressKind, 'public' | 'metadata'> | 'own', string>> = {
  own: 'an address of this machine',
  loopback: 'a loopback address',
  private: 'a private address',
  'link-local': 'a link-local address',
  shared: "an address of a carrier's network or a private network",
  multicast: 'a multicast address',
  reserved: 'a reserved address',
}

function denied(subject: string, rule: string, remedy: Remedy): Denial {
  return { kind: 'host', subject, rule, certainty: 'proven', remedy }
}

function otherwise(advice: string): Remedy {
  return { kind: 'otherwise', advice }
}
