import { isIPv4, isIPv6 } from 'node:net'
import { domainToASCII } from 'node:url'

/** A host in its normalized spelling: a lower-case ASCII name without a final dot, or an address in the kernel's notation. */
export type Host = { readonly kind: 'name' | 'address'; readonly text: string }

/** The host that a text names, or the reason why it names none. */
type ParsedHost = { readonly host: Host } | { readonly host: undefined; readonly why: string }

/**
 * Parses the text of a host. This parser is used for patterns and for the requests of commands, so that the host that is resolved is always the host
 * that was checked. It is strict, because lenient parsers disagree with each other. It refuses numbers that some programs read as an IPv4 address
 * (`0x7f.1`, `127.1`, `2130706433`), NUL and other control characters, spaces, user names, zones and escapes.
 */
export function parseHost(text: string): ParsedHost {
  if (text.length > 1024) return refuse('it is longer than a host name can be')
  if (/[\u0000-\u0020\u007f-\u00a0]/.test(text)) return refuse('it contains a space or a control character')
  if (text.startsWith('[') !== text.endsWith(']')) return refuse('its brackets do not match')
  const bare = text.startsWith('[') ? text.slice(1, -1) : text
  if (bare.includes(':')) return parseIPv6(bare)
  if (text.startsWith('[')) return refuse('only an IPv6 address may be in brackets')
  // ASCII characters are checked before the conversion below, which may turn other characters into ASCII.
  if (/[^\w.\-\u0080-\u{10ffff}]/u.test(text))
    return refuse('it contains a character that is not allowed in a host name')
  const ascii = (isAscii(text) ? text : domainToASCII(text)).toLowerCase().replace(/\.$/, '')
  return parseAscii(ascii)
}

/** The IP address in a text that contains nothing else, in the form that `net.connect` accepts; undefined for any other text. */
export function hostAddress(text: string): string | undefined {
  const parsed = parseHost(text)
  return parsed.host?.kind === 'address' ? parsed.host.text : undefined
}

function parseAscii(text: string): ParsedHost {
  if (isIPv4(text)) return { host: { kind: 'address', text } }
  const labels = text.split('.')
  // The URL standard treats a name that ends in a number as an address.
  if (/^(?:\d+|0x[\da-f]*)$/.test(labels.at(-1) ?? '')) return refuse('it is not an IPv4 address of four plain numbers')
  if (text.length > 253) return refuse('it is longer than a host name can be')
  const isLabel = (label: string): boolean => /^[a-z\d_](?:[a-z\d_-]{0,61}[a-z\d_])?$/.test(label)
  if (!labels.every(isLabel)) return refuse('it is not a host name')
  return { host: { kind: 'name', text } }
}

function parseIPv6(text: string): ParsedHost {
  if (!isIPv6(text) || text.includes('%')) return refuse('it is not an IPv6 address')
  // The URL parser writes every address in its shortest form.
  const canonical = new URL(`http://[${text}]`).hostname.slice(1, -1)
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(canonical)
  if (mapped === null) return { host: { kind: 'address', text: canonical } }
  // This is an IPv4 address mapped into IPv6. A connection to it is a connection to the IPv4 address.
  const [high, low] = [Number.parseInt(mapped[1] ?? '', 16), Number.parseInt(mapped[2] ?? '', 16)]
  return { host: { kind: 'address', text: [high >> 8, high & 255, low >> 8, low & 255].join('.') } }
}

function isAscii(text: string): boolean {
  return !/[^\u0000-\u007f]/.test(text)
}

function refuse(why: string): ParsedHost {
  return { host: undefined, why }
}

/** Parses the `HOST:PORT` of a request. IPv6 addresses must be in brackets. If the port is missing, the default port is used, if there is one. */
export function parseAuthority(
  text: string,
  defaultPort?: number,
): { readonly host: Host; readonly port: number } | { readonly host: undefined; readonly why: string } {
  const match = /^(\[[^\]]*\]|[^:[\]]*)(?::(\d{1,5}))?$/.exec(text)
  if (match === null) return { host: undefined, why: 'it is not HOST:PORT' }
  const port = match[2] === undefined ? defaultPort : Number(match[2])
  if (port === undefined || port < 1 || port > 65_535)
    return { host: undefined, why: 'its port is missing or not valid' }
  const parsed = parseHost(match[1] ?? '')
  return parsed.host === undefined ? parsed : { host: parsed.host, port }
}

/** `HOST:PORT`, with an IPv6 address in brackets. */
export function authority(host: string, port: number | string): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}
