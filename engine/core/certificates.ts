import process from 'node:process'
import { readHostFile } from '../../sandbox/index.ts'

type Environment = Readonly<Record<string, string | undefined>>

const certificateCodes =
  /^(?:UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|CERT_|CRL_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|ERR_TLS_CERT_ALTNAME)/

/** An error and all its causes. */
export function causesOf(error: unknown): readonly Error[] {
  const all: Error[] = []
  for (let at = error; at instanceof Error && !all.includes(at); at = at.cause) all.push(at)
  return all
}

/** The error among the causes of another that says that a certificate isn't accepted; undefined if there is none. */
export function refusedCertificate(error: unknown): Error | undefined {
  return causesOf(error).find((cause) => certificateCodes.test((cause as NodeJS.ErrnoException).code ?? ''))
}

/**
 * Connects to a server; if its certificate isn't accepted, once more with the certificates of the system and of the environment.
 *
 * @throws what `connect` throws, or an error that names the certificate and says what to set
 */
export async function connectTrusting<T>(url: URL, env: Environment, connect: () => Promise<T>): Promise<T> {
  try {
    return await connect()
  } catch (error) {
    const refused = refusedCertificate(error)
    if (refused === undefined) throw error
    if (await trustMoreCertificates(url, env)) return connectTrusting(url, env, connect)
    throw new Error(await aboutCertificate(url, refused), { cause: error })
  }
}

/** Removes Node's advice, which a user of a built program can't follow. */
function withoutAdvice(words: string): string {
  return words.split(/; |\. /)[0] ?? words
}

/** A sentence about a server's certificate that isn't trusted. Connects once more, sending nothing, to learn who issued it. */
export async function aboutCertificate({ hostname, port }: URL, refused: Error): Promise<string> {
  const { connect } = process.getBuiltinModule('node:tls')
  const { isIP } = process.getBuiltinModule('node:net')
  const host = hostname.replace(/^\[(.*)\]$/, '$1')
  const issuer = await new Promise<string | undefined>((resolve) => {
    const socket = connect({
      host,
      port: port === '' ? 443 : Number(port),
      // The name that a client asks for must not be an address.
      ...(isIP(host) === 0 ? { servername: host } : {}),
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
  return `the certificate of ${hostname}${by} isn't accepted: ${withoutAdvice(refused.message)}. ${remedyFor(refused)}`
}

/** What to do about a certificate: only an unknown authority can be made known. */
function remedyFor({ code = '' }: NodeJS.ErrnoException): string {
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'Use a name that the certificate is for'
  if (/_EXPIRED$|_NOT_YET_VALID$/.test(code)) return 'The server needs a new one, if the clock of this machine is right'
  return 'Set SSL_CERT_FILE to a PEM file with the certificate of its authority, or SSL_CERT_DIR to a folder of such files'
}

function namesOf(issuer: unknown): { readonly O?: readonly unknown[]; readonly CN?: readonly unknown[] } {
  const { O: organization, CN: name } = (issuer ?? {}) as { O?: unknown; CN?: unknown }
  return { O: [organization].flat(), CN: [name].flat() }
}

let found: Promise<number> | undefined
let isExtended = false
const askedAgain = new Set<string>()

/**
 * Trusts the certificates of the system, and those in `SSL_CERT_FILE` and `SSL_CERT_DIR`, from now on. They are loaded only when a certificate isn't
 * accepted without them, because loading the system's takes longer than the rest of a start.
 *
 * @returns whether it is worth connecting to this server once more: true at most once for a server, after the certificates have been loaded
 */
export async function trustMoreCertificates({ host }: URL, env: Environment): Promise<boolean> {
  const wasExtended = isExtended
  const more = await (found ??= extend(env))
  isExtended = true
  // What failed while the certificates were loaded, or had begun before, may succeed now.
  const isNew = !wasExtended || !askedAgain.has(host)
  askedAgain.add(host)
  return more > 0 && isNew
}

/** Returns a function that does the same for the https server of a host. */
export function trustMoreOf(env: Environment): (host: string) => Promise<boolean> {
  return (host) => trustMoreCertificates(new URL(`https://${host}`), env)
}

/** @returns how many more certificates are trusted */
async function extend(env: Environment): Promise<number> {
  const tls: Partial<typeof import('node:tls')> = process.getBuiltinModule('node:tls')
  // Node before 22.19 can only be started with other certificates.
  if (tls.setDefaultCACertificates === undefined || tls.getCACertificates === undefined) return 0
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
