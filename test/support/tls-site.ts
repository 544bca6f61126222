import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { onTestFinished } from 'vitest'
import { makeCertificate, type Issued } from './certificate.ts'
import { tempDir } from './temp-dir.ts'

/** Issues a certificate for these names and addresses. This process trusts its authority until the test has ended. */
export function issueCertificate(names: readonly string[], addresses: readonly string[] = []): Issued {
  const issued = makeCertificate(tempDir(), names, addresses)
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, readFileSync(issued.ca, 'utf8')])
  onTestFinished(() => setDefaultCACertificates(before))
  return issued
}

/** Starts a server behind TLS on loopback, at any free port unless one is given. Returns its port. */
export async function startTlsSite(
  { key, cert }: Issued,
  answer: RequestListener,
  host = '127.0.0.1',
  port = 0,
): Promise<number> {
  const server = createServer({ key, cert }, answer)
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(port, host, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

/** Answers as a server of git does, from the bare repositories in a folder, to whoever has the authorization. */
export function gitSite(folder: string, authorization: string): RequestListener {
  return (message: IncomingMessage, response: ServerResponse) => {
    if (message.headers.authorization !== authorization) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end()
      return
    }
    const [path = '', query = ''] = (message.url ?? '').split('?')
    const cgi = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'somebody',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: message.method,
        CONTENT_TYPE: message.headers['content-type'] ?? '',
        GIT_PROTOCOL: `${message.headers['git-protocol'] ?? ''}`,
        HTTP_CONTENT_ENCODING: message.headers['content-encoding'] ?? '',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    })
    cgi.stdin.on('error', () => undefined)
    message.pipe(cgi.stdin)
    let head = Buffer.alloc(0)
    const read = (chunk: Buffer): void => {
      head = Buffer.concat([head, chunk])
      const end = head.indexOf('\r\n\r\n')
      if (end === -1) return
      cgi.stdout.off('data', read)
      const lines = head.toString('latin1', 0, end).split('\r\n')
      const status = lines.find((line) => line.startsWith('Status: '))
      response.statusCode = Number(status?.slice(8, 11) ?? 200)
      for (const line of lines) response.setHeader(line.split(':')[0] ?? '', line.slice(line.indexOf(':') + 1).trim())
      response.write(head.subarray(end + 4))
      cgi.stdout.pipe(response)
    }
    cgi.stdout.on('data', read)
  }
}
