import { aboutCertificate, causesOf, refusedCertificate, trustMoreCertificates } from '../core/certificates.ts'
import { ProviderFailure } from './failure.ts'
import { proxyFault } from './proxy-failure.ts'

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
  const refusing = proxyFault(error, new URL(url), env)
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
