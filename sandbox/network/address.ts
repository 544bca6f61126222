import { isIPv4 } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * The kind of network or service to which an address belongs. A host that is allowed only by name may have only `public` addresses or, if
 * `allowPrivate` is set, any addresses except `metadata`.
 */
export type AddressKind =
  | 'public'
  /** A cloud's metadata service, which gives credentials to every process that asks. */
  | 'metadata'
  | 'loopback'
  | 'private'
  | 'link-local'
  /** Addresses behind a carrier's NAT (RFC 6598). VPNs also assign these addresses to their members. */
  | 'shared'
  | 'multicast'
  /** Addresses for documentation, benchmarks and translation, the unspecified address, and addresses that are not assigned. */
  | 'reserved'

/** Addresses of the metadata and platform services of AWS, Azure, Google, Oracle, Alibaba and others. */
const metadata: readonly string[] = [
  '169.254.169.254',
  '169.254.170.2',
  '169.254.170.23',
  '168.63.129.16',
  '100.100.100.200',
  '192.0.0.192',
  'fd00:ec2::254',
  'fd00:ec2::23',
  'fd20:ce::254',
]

/** The special ranges of IPv4 addresses, most of them from IANA's registry (RFC 6890), each with the kind of its addresses. */
const specialIPv4: readonly (readonly [string, number, AddressKind])[] = [
  ['0.0.0.0', 8, 'reserved'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'shared'],
  ['127.0.0.0', 8, 'loopback'],
  ['169.254.0.0', 16, 'link-local'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'reserved'],
  ['192.0.2.0', 24, 'reserved'],
  ['192.88.99.0', 24, 'reserved'],
  ['192.168.0.0', 16, 'private'],
  ['198.18.0.0', 15, 'reserved'],
  ['198.51.100.0', 24, 'reserved'],
  ['203.0.113.0', 24, 'reserved'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved'],
]

/** The special ranges of IPv6 addresses, then the public range. Addresses outside all of these ranges are not assigned. */
const specialIPv6: readonly (readonly [string, number, AddressKind])[] = [
  ['::1', 128, 'loopback'],
  ['fe80::', 10, 'link-local'],
  ['fec0::', 10, 'private'],
  ['fc00::', 7, 'private'],
  ['ff00::', 8, 'multicast'],
  // Of the four reserved ranges, the first is for protocol assignments, which include Teredo. The others are for documentation and 6to4.
  ['2001::', 23, 'reserved'],
  ['2001:db8::', 32, 'reserved'],
  ['2002::', 16, 'reserved'],
  ['3fff::', 20, 'reserved'],
  ['2000::', 3, 'public'],
]

/**
 * The kind of an IPv4 or IPv6 address in any valid spelling. An IPv6 address that stands for an IPv4 address (mapped, or in `64:ff9b::/96`) has the
 * kind of that address.
 */
export function addressKind(address: string): AddressKind {
  if (isIPv4(address)) {
    if (metadata.includes(address)) return 'metadata'
    const number = numberOf(address)
    return (
      specialIPv4.find(([base, bits]) => number >> BigInt(32 - bits) === numberOf(base) >> BigInt(32 - bits))?.[2] ??
      'public'
    )
  }
  const number = numberOfIPv6(address)
  if (number === undefined) return 'reserved'
  const embedded = [0xffffn, 0x64_ff9b_0000_0000_0000_0000n].includes(number >> 32n) ? number & 0xffff_ffffn : undefined
  if (embedded !== undefined) return addressKind(ipv4Of(embedded))
  if (metadata.some((place) => numberOfIPv6(place) === number)) return 'metadata'
  const inside = ([base, bits]: readonly [string, number, AddressKind]): boolean =>
    number >> BigInt(128 - bits) === (numberOfIPv6(base) ?? 0n) >> BigInt(128 - bits)
  return specialIPv6.find(inside)?.[2] ?? 'reserved'
}

/**
 * Whether an address belongs to this machine. Even a public address may be this machine's own. A connection to it then reaches services that listen
 * here.
 */
export function isOwnAddress(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const wanted = isIPv4(address) ? `::ffff:${address}` : address
  return own.some((each) => {
    const mine = each.family === 'IPv4' ? `::ffff:${each.address}` : each.address
    return numberOfIPv6(mine) === numberOfIPv6(wanted)
  })
}

function numberOf(ipv4: string): bigint {
  return ipv4.split('.').reduce((sum, part) => sum * 256n + BigInt(part), 0n)
}

function ipv4Of(number: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (number >> shift) & 255n).join('.')
}

function numberOfIPv6(address: string): bigint | undefined {
  if (!URL.canParse(`http://[${address}]`)) return undefined
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::')
  const groups = (text: string): readonly string[] => text.split(':').filter((group) => group !== '')
  const [left, right] = [groups(head), groups(tail ?? '')]
  const gap = Array.from({ length: 8 - left.length - right.length }, () => '0')
  return [...left, ...gap, ...right].reduce((sum, group) => sum * 65_536n + BigInt(`0x${group}`), 0n)
}
