import type { IncomingHttpHeaders } from 'node:http'
import { insideOf, outsideOf, type Origin, type ReadCredential } from './credential.ts'

/**
 * Headers that identify somebody, or make a server see another method, address or client than the request has. Those of a command are never sent: whoever
 * could send a credential of their own could send data to their own account.
 */
const withheld: ReadonlySet<string> = new Set([
  ...['authorization', 'cookie', 'cookie2', 'api-key', 'apikey', 'token', 'sudo', 'from', 'host', 'forwarded', 'via'],
  ...['x-real-ip', 'front-end-https', 'true-client-ip', 'http2-settings', 'alt-used', 'x-host', 'destination'],
  // A part of an echo can't be masked.
  ...['range', 'if-range'],
])
const withheldBeginnings = [
  ...[
    'x-forwarded',
    'x-original',
    'x-rewrite',
    'x-method',
    'x-http-',
    'cf-',
    'x-auth',
    'x-remote',
    'x-ssl',
    'x-client',
  ],
  ...['ssl-', 'remote-', 'impersonate-'],
]
const withheldEndings = [
  ...['-token', '-authorization', '-api-key', '-apikey', '-secret', '-signature', '-override', '-user', '-url', '-uri'],
]

/** Names with other characters than these are read in different ways. */
const plainName = /^[a-z\d-]+$/

function isWithheld(name: string): boolean {
  return (
    withheld.has(name) ||
    !plainName.test(name) ||
    withheldBeginnings.some((beginning) => name.startsWith(beginning)) ||
    withheldEndings.some((ending) => name.endsWith(ending))
  )
}

/** Headers of an answer that would give a command something to keep (a cookie), or tell it to leave the proxy. */
const dropped: ReadonlySet<string> = new Set(['set-cookie', 'set-cookie2', 'alt-svc', 'strict-transport-security'])

type Headers = Readonly<Record<string, string>>

/** The headers to send with a credential. */
export function headersOnward(
  own: Headers,
  credential: ReadCredential,
  value: string,
  { isGit, host }: { readonly isGit: boolean; readonly host: string },
): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(own)) {
    if (!isWithheld(name) && name !== credential.header?.toLowerCase()) headers[name] = text
  }
  const [name, text] = headerOf(credential, value, isGit)
  // Encodings in which the value can be found again.
  const codings = 'gzip, br, zstd, identity'
  return {
    ...headers,
    ...(own['accept-encoding'] === undefined ? {} : { 'accept-encoding': codings }),
    host,
    [name]: text,
  }
}

function headerOf({ as, user, header = '' }: ReadCredential, value: string, isGit: boolean): readonly [string, string] {
  if (as === 'header') return [header.toLowerCase(), value]
  if (as === 'bearer' || (as === 'git' && !isGit)) return ['authorization', `Bearer ${value}`]
  const name = user ?? (as === 'git' ? 'x-access-token' : '')
  return ['authorization', `Basic ${Buffer.from(`${name}:${value}`).toString('base64')}`]
}

/** The headers of an answer for a command. Links to the same host lead it to the proxy again. */
export function headersBack(own: Headers, origin: Origin, mask: (text: string) => string): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const [name, text] of Object.entries(own)) {
    if (dropped.has(name)) continue
    const isLink = name === 'location' || name === 'link' || name === 'content-location'
    headers[name] = mask(isLink ? linkInside(text, origin) : text)
  }
  return headers
}

function linkInside(text: string, origin: Origin): string {
  const outside = outsideOf(origin)
  return text.replace(/(^|<)(https:\/\/[^/?#>\s]*)/gi, (all: string, before: string, place: string) =>
    place.toLowerCase() === outside || place.toLowerCase() === `${outside}:443` ? `${before}${insideOf(origin)}` : all,
  )
}

/** How the body of an answer is coded; undefined if that isn't known. */
export function codingOf(headers: IncomingHttpHeaders): 'identity' | 'gzip' | 'br' | 'zstd' | undefined {
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
  if (coding === 'x-gzip') return 'gzip'
  return coding === 'identity' || coding === 'gzip' || coding === 'br' || coding === 'zstd' ? coding : undefined
}

/** Whether the body of an answer is text, in which the value would be found. */
export function isText(headers: IncomingHttpHeaders): boolean {
  const [type = ''] = (headers['content-type'] ?? 'text/plain').toLowerCase().split(';')
  const words = type.split(/[^a-z\d]/)
  return words.includes('text') || words.some((word) => textual.has(word))
}

const textual: ReadonlySet<string> = new Set(
  'json jsonl ndjson xml yaml javascript graphql urlencoded problem html csv'.split(' '),
)
