import { aboutCertificate, causesOf, refusedCertificate, trustMoreCertificates } from '../core/certificates.ts'
import { ProviderFailure } from './failure.ts'
import { proxyOf, type NamedProxy } from './proxy-variables.ts'

type Environment = Readonly<Record<string, string | undefined>>

/** What is known about a failed connection. `url`: the provider's base URL. */
type Failed = { readonly url: string; readonly env: Environment }

/**
 * Decides what it means that a provider can't be reached. Failures that would occur again, such as an unknown certificate, are not retried. The message
 * names what is in the way, and what to set.
 */
export async function judgeConnection(error: Error, { url, env }: Failed): Promise<ProviderFailure> {
  const known = causesOf(error).find((cause) => cause instanceof ProviderFailure)
  if (known !== undefined) return known
  const cause = causesOf(error).at(-1) ?? error
  const words = cause.message === '' ? cause.name : cause.message
  const at = withoutQuery(url)
  const fail = (message: string, retryable = false): ProviderFailure =>
    new ProviderFailure('connection', message, { retryable })
  const refused = refusedCertificate(error)
  if (refused !== undefined) {
    if (await trustMoreCertificates(new URL(url), env))
      return new ProviderFailure('connection', `can't be reached at ${at}: more certificates are now trusted`, {
        retryable: true,
        waitMs: 0,
      })
    return fail(`can't be reached at ${at}: ${await aboutCertificate(new URL(url), refused)}`)
  }
  if (speaksHttp2(cause))
    return fail(
      `can't be reached at ${at}: the server speaks only HTTP/2, which this program doesn't. Use a gateway that speaks HTTP/1.1.`,
    )
  const proxy = proxyOf(env, new URL(url))
  const refusing = proxy === undefined ? undefined : aboutProxy(cause, words, proxy)
  if (refusing !== undefined) return fail(`can't be reached at ${at}: ${refusing.words}`, refusing.retryable)
  const reason = tlsReason(words)
  if (reason !== undefined) return fail(`can't be reached at ${at}: ${aboutTls(reason)}`, !isFinalForTls(reason))
  if (words === 'redirect count exceeded')
    return fail(`can't be reached at ${at}: it redirects requests in a circle. Check the base URL.`)
  return fail(`can't be reached at ${at}: ${words}`, true)
}

/** Whether a server answered with frames of HTTP/2, or refused the protocol. */
function speaksHttp2(cause: Error): boolean {
  const { rawPacket } = cause as { rawPacket?: unknown }
  if (tlsReason(cause.message)?.endsWith('no application protocol') === true) return true
  // A frame begins with its length in three bytes. The first frame of a server is of the type SETTINGS (4).
  return rawPacket instanceof Uint8Array && rawPacket[0] === 0 && rawPacket[1] === 0 && rawPacket[3] === 4
}

/** What a proxy did instead of connecting; undefined if the failure isn't the proxy's. */
function aboutProxy(
  cause: Error,
  words: string,
  { label, variable, host }: NamedProxy,
): { readonly words: string; readonly retryable: boolean } | undefined {
  // These are the words of Node's `fetch` and of its `http`.
  const [, byFetch, byHttp] =
    /^Proxy response \((\d+)\)|^Failed to establish tunnel .* HTTP\/1\.\d (\d+)/.exec(words) ?? []
  const status = Number(byFetch ?? byHttp)
  // The first is for the way to a server with https; for others, Node's `fetch` takes the status as a failure of its own.
  if (status === 407 || /proxy authentication required/i.test(words))
    return {
      words: `the proxy ${label} asks for a user and a password (407). Set them in ${variable}: http://USER:PASSWORD@${host}`,
      retryable: false,
    }
  const named = `the proxy ${label} (${variable})`
  if (status >= 500) return { words: `${named} can't connect to it (${status})`, retryable: true }
  if (status > 0)
    return {
      words: `${named} refuses to connect to it (${status}). Allow it there, or name its host in NO_PROXY`,
      retryable: status === 429,
    }
  const { code = '' } = cause as NodeJS.ErrnoException
  // Node's `fetch` names what it waited for only in the message.
  const isSilent = code === 'UND_ERR_CONNECT_TIMEOUT' && words.includes(` ${host},`)
  if (code === 'ERR_INVALID_ARG_VALUE' && words.includes('TLS ServerName'))
    return {
      words: `${named} can't be used, because Node connects to a proxy with https only by its name, not by an address. Name its host in ${variable}`,
      retryable: false,
    }
  if (isSilent || isAbout(cause, host)) return { words: `${named} doesn't answer: ${words}`, retryable: true }
  return code.startsWith('UND_ERR_SOCKS5') ? { words: `${named} refuses: ${words}`, retryable: false } : undefined
}

function isAbout(cause: Error, host: string): boolean {
  const { address, port, hostname } = cause as Error & Partial<Record<'address' | 'port' | 'hostname', unknown>>
  const { hostname: name, port: number } = new URL(`http://${host}`)
  return hostname === name || (String(port) === (number === '' ? '80' : number) && typeof address === 'string')
}

/** OpenSSL's reason in an error's message, which otherwise consists of numbers and of places in OpenSSL's source; undefined if there is none. */
function tlsReason(message: string): string | undefined {
  return /:SSL routines:[^:]*:([^:]+):/.exec(message)?.[1]
}

const [noTls, wantsCertificate] = [/wrong version number|packet length too long/, /certificate required/]

function aboutTls(reason: string): string {
  if (noTls.test(reason))
    return `it doesn't speak TLS (${reason}). If it speaks plain HTTP, its URL begins with http://`
  if (wantsCertificate.test(reason))
    return `it asks for a certificate of this program, which has none (${reason}). Use a gateway that doesn't`
  return `TLS failed: ${reason}`
}

function isFinalForTls(reason: string): boolean {
  return noTls.test(reason) || wantsCertificate.test(reason) || /protocol version|unsupported protocol/.test(reason)
}

/** Removes the query from a URL for a message, because the query may contain a key. */
function withoutQuery(url: string): string {
  return url.split('?')[0] ?? url
}
