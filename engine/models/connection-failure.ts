import { aboutCertificate, causesOf, refusedCertificate, trustMoreCertificates } from '../core/certificates.ts'
import { ProviderFailure } from './failure.ts'
import { proxyOf } from './proxy-variables.ts'

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
  if (proxy !== undefined && /\b407\b/.test(words))
    return fail(
      `can't be reached at ${at}: the proxy ${proxy.label} asks for a user and a password (407). Set them in ${proxy.variable}: http://USER:PASSWORD@${proxy.host}`,
    )
  if (proxy !== undefined && isAbout(cause, proxy))
    return fail(
      `can't be reached at ${at}: the proxy ${proxy.label} (${proxy.variable}) doesn't answer: ${words}`,
      true,
    )
  if (words === 'redirect count exceeded')
    return fail(`can't be reached at ${at}: it redirects requests in a circle. Check the base URL.`)
  return fail(`can't be reached at ${at}: ${words}`, true)
}

/** Whether a server answered with frames of HTTP/2, or refused the protocol. */
function speaksHttp2(cause: Error): boolean {
  const { code, rawPacket } = cause as NodeJS.ErrnoException & { rawPacket?: unknown }
  if (code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return true
  // A frame begins with its length in three bytes. The first frame of a server is of the type SETTINGS (4).
  return rawPacket instanceof Uint8Array && rawPacket[0] === 0 && rawPacket[1] === 0 && rawPacket[3] === 4
}

function isAbout(cause: Error, proxy: { readonly host: string }): boolean {
  const { address, port, hostname } = cause as Error & Partial<Record<'address' | 'port' | 'hostname', unknown>>
  const { hostname: name, port: number } = new URL(`http://${proxy.host}`)
  return hostname === name || (String(port) === (number === '' ? '80' : number) && typeof address === 'string')
}

/** Removes the query from a URL for a message, because the query may contain a key. */
function withoutQuery(url: string): string {
  return url.split('?')[0] ?? url
}
