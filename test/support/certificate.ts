import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** An authority of its own, by the path of its certificate, and a certificate that it has issued. */
export type Issued = { readonly ca: string; readonly key: string; readonly cert: string }

/** Makes an authority in a folder, which issues a certificate for these names and addresses. */
export function makeCertificate(folder: string, names: readonly string[], addresses: readonly string[] = []): Issued {
  const openssl = (...words: readonly string[]): void => {
    execFileSync('openssl', words, { cwd: folder, stdio: 'ignore' })
  }
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
  openssl('req', '-x509', ...fresh, '-days', '2', '-subj', '/CN=Test Root', '-keyout', 'ca.key', '-out', 'ca.pem')
  openssl('req', ...fresh, '-subj', '/CN=site', '-keyout', 'site.key', '-out', 'site.csr')
  const alternatives = [...names.map((name) => `DNS:${name}`), ...addresses.map((address) => `IP:${address}`)]
  writeFileSync(join(folder, 'names'), `subjectAltName=${alternatives.join(',')}\n`)
  const signing = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', 'names']
  openssl('x509', '-req', '-in', 'site.csr', ...signing, '-out', 'site.pem')
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8')
  return { ca: join(folder, 'ca.pem'), key: read('site.key'), cert: read('site.pem') }
}
