import process from 'node:process'
import { readHostFile } from '../../sandbox/index.ts'
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
  const { code = '' } = cause as NodeJS.ErrnoException
  const words = cause.message === '' ? cause.name : cause.message
  const at = withoutQuery(url)
  const fail = (message: string, retryable = false): ProviderFailure =>
    new ProviderFailure('connection', message, { retryable })
  if (certificateCodes.test(code)) {
    const found = await trustMoreCertificates(env)
    if (found > 0)
      return new ProviderFailure(
        'connection',
        `can't be reached at ${at}: ${found} more certificates are now trusted`,
        {
          retryable: true,
          waitMs: 0,
        },
      )
    return fail(`can't be reached at ${at}: ${await aboutCertificate(new URL(url), withoutAdvice(words))}`)
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
  return fail(`can't be reached at ${at}: ${words}`, true)
}

function causesOf(error: Error): readonly Error[] {
  const all: Error[] = []
  for (let at: unknown = error; at instanceof Error && !all.includes(at); at = at.cause) all.push(at)
  return all
}

const certificateCodes =
  /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|CRL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERR_TLS_CERT_ALTNAME)/

/** Removes Node's advice, which a user of a built program can't follow. */
function withoutAdvice(words: string): string {
  return words.split(/; |\. /)[0] ?? words
}

/** A sentence about a server's certificate that isn't trusted. Connects once more, sending nothing, to learn who issued it. */
async function aboutCertificate({ hostname, port }: URL, why: string): Promise<string> {
  const { connect } = process.getBuiltinModule('node:tls')
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const issuer = await new Promise<string | undefined>((resolve) => {
    const socket = connect({
      host,
      port: port === '' ? 443 : Number(port),
      servername: host,
      rejectUnauthorized: false,
    })
    socket.setTimeout(2000, () => socket.destroy())
    socket.once('secureConnect', () => {
      const { O: [organization] = [], CN: [name] = [] } = namesOf(socket.getPeerCertificate().issuer)
      resolve([name, organization].filter(Boolean).join(', '))
      socket.destroy()
    })
    socket.once('error', () => resolve(undefined))
    socket.once('close', () => resolve(undefined))
  })
  const by =
    issuer === undefined || issuer === '' ? '' : `, issued by "${issuer.replace(/[^\x20-\x7e]/g, '?').slice(0, 100)}",`
  return (
    `the certificate of ${hostname}${by} isn't accepted: ${why}. ` +
    'Set SSL_CERT_FILE to a PEM file with the certificate of its authority, or SSL_CERT_DIR to a folder of such files'
  )
}

function namesOf(issuer: unknown): { readonly O?: readonly unknown[]; readonly CN?: readonly unknown[] } {
  const { O: organization, CN: name } = (issuer ?? {}) as { O?: unknown; CN?: unknown }
  return { O: [organization].flat(), CN: [name].flat() }
}

let isExtended = false

/**
 * Trusts the certificates of the system, and those in `SSL_CERT_FILE` and `SSL_CERT_DIR`, from now on. They are loaded only when a certificate isn't
 * accepted without them, because loading the system's takes longer than the rest of a start.
 *
 * @returns how many more certificates are trusted; 0 if this was done before
 */
async function trustMoreCertificates(env: Environment): Promise<number> {
  const tls: Partial<typeof import('node:tls')> = process.getBuiltinModule('node:tls')
  // Node before 22.19 can only be started with other certificates.
  if (isExtended || tls.setDefaultCACertificates === undefined || tls.getCACertificates === undefined) return 0
  isExtended = true
  const before = tls.getCACertificates('default')
  const all = new Set([...before, ...tls.getCACertificates('system'), ...(await configured(env))])
  tls.setDefaultCACertificates([...all])
  return all.size - new Set(before).size
}

/** The certificates in the files that the environment names. Files that can't be read, and what isn't a certificate, count as empty. */
async function configured(env: Environment): Promise<readonly string[]> {
  const { readdir } = process.getBuiltinModule('node:fs/promises')
  const { join } = process.getBuiltinModule('node:path')
  const folders = (env['SSL_CERT_DIR'] ?? '').split(':').filter((folder) => folder !== '')
  const listed = await Promise.all(
    folders.map(async (folder) => (await readdir(folder).catch(() => [])).map((name) => join(folder, name))),
  )
  const files = [env['SSL_CERT_FILE'] ?? '', ...listed.flat()].filter((file) => file !== '')
  return files.map(textOf).flatMap(certificatesIn).filter(isCertificate)
}

function certificatesIn(text: string): readonly string[] {
  const [begin, end] = ['BEGIN', 'END'].map((word) => `-----${word} CERTIFICATE-----`) as [string, string]
  return text.split(end).flatMap((part) => {
    const at = part.lastIndexOf(begin)
    return at === -1 ? [] : [`${part.slice(at)}${end}\n`]
  })
}

function textOf(file: string): string {
  return readHostFile(file, { follow: true, maxBytes: 16 * 1024 * 1024 })?.toString('latin1') ?? ''
}

function isCertificate(pem: string): boolean {
  try {
    return new (process.getBuiltinModule('node:crypto').X509Certificate)(pem).raw.length > 0
  } catch {
    // One broken entry in a bundle must not make the others useless.
    return false
  }
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
