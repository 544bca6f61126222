import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { say } from '../../support/mock-openai.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository } from '../../support/workspace.ts'

/** A folder with the key and the certificate of a server on this machine, which no known authority has issued. */
function certificate(): string {
  const folder = tempDir()
  const name = '/O=Example Works/CN=Example Root'
  const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2']
  const names = ['-subj', name, '-addext', 'subjectAltName=DNS:localhost']
  execFileSync('openssl', [...words, ...names, '-keyout', 'key.pem', '-out', 'cert.pem'], {
    cwd: folder,
    stdio: 'ignore',
  })
  return folder
}

/** Runs the program with a model server behind TLS. Returns how often the server was reached, too. */
async function runWith(folder: string, env: Readonly<Record<string, string>>) {
  let mock = ''
  const tls = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')) }
  const server = createServer(tls, (incoming, outgoing) => {
    const { method, headers, url } = incoming
    incoming.pipe(
      request(`${mock}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const baseUrl = (url: string): string => {
    mock = new URL(url).origin
    return `https://localhost:${(server.address() as AddressInfo).port}${new URL(url).pathname}`
  }
  return exec([[say('ok')]], ['-s', 'danger-full-access', 'x'], { cwd: repository(), env, baseUrl })
}

test('a certificate that nobody knows is not tried again; the message names the host, the issuer and what to set', async () => {
  const ended = await runWith(certificate(), {})
  expect(ended.code).toBe(6)
  expect(ended.stderr).toContain(
    `the certificate of localhost, issued by "Example Root, Example Works", isn't accepted: self-signed certificate. Set SSL_CERT_FILE`,
  )
  expect(ended.stderr).not.toMatch(/gave up|Node/)
})

test('the certificates of SSL_CERT_FILE and SSL_CERT_DIR are trusted', async () => {
  const folder = certificate()
  for (const env of [{ SSL_CERT_FILE: join(folder, 'cert.pem') }, { SSL_CERT_DIR: `/nowhere:${folder}` }])
    expect(await runWith(folder, env)).toMatchObject({ code: 0 })
})
