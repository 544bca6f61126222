import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { request, type RequestListener } from 'node:http'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { call, say } from '../../support/mock-openai.ts'
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

/** Starts a server behind TLS. Returns its origin. */
async function listen(folder: string, answer: RequestListener, more: ServerOptions = {}): Promise<string> {
  const tls = { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(join(folder, 'cert.pem')), ...more }
  const server = createServer(tls, answer)
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://localhost:${(server.address() as AddressInfo).port}`
}

/** Runs the program with a model server behind TLS. */
async function runWith(folder: string, env: Readonly<Record<string, string>>) {
  let mock = ''
  const origin = await listen(folder, (incoming, outgoing) => {
    const { method, headers, url } = incoming
    incoming.pipe(
      request(`${mock}${url}`, { method, headers }, (answer) => {
        outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
        answer.pipe(outgoing)
      }),
    )
  })
  const baseUrl = (url: string): string => {
    mock = new URL(url).origin
    return `${origin}${new URL(url).pathname}`
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

test('other faults of a certificate have other remedies', async () => {
  const folder = certificate()
  const origin = await listen(folder, (_, answer) => void answer.end())
  const env = { SSL_CERT_FILE: join(folder, 'cert.pem') }
  const run = (url: string) =>
    exec([[say('never')]], ['-s', 'danger-full-access', 'x'], { cwd: repository(), env, baseUrl: () => url })
  const byAddress = await run(origin.replace('localhost', '127.0.0.1'))
  expect(byAddress.code).toBe(6)
  expect(byAddress.stderr).toContain('the certificate of 127.0.0.1, issued by "Example Root, Example Works",')
  expect(byAddress.stderr).toContain('Use a name that the certificate is for')
  expect(byAddress.stderr).not.toMatch(/gave up|SSL_CERT_FILE/)
  const late = ['x509', '-in', 'cert.pem', '-signkey', 'key.pem', '-days', '-1', '-copy_extensions', 'copyall']
  execFileSync('openssl', [...late, '-out', 'late.pem'], { cwd: folder, stdio: 'ignore' })
  const expired = await listen(folder, (_, answer) => void answer.end(), {
    cert: readFileSync(join(folder, 'late.pem')),
  })
  const tooLate = await run(expired)
  expect(tooLate.code).toBe(6)
  expect(tooLate.stderr).toContain('certificate has expired. The server needs a new one')
})

test.each<readonly [string, ServerOptions, string]>([
  [
    'asks for a certificate',
    { requestCert: true, rejectUnauthorized: true },
    'it asks for a certificate of this program',
  ],
  ['speaks only HTTP/2', { ALPNProtocols: ['h2'] }, 'the server speaks only HTTP/2'],
])('a server that %s is named as such, and asked once', async (_, options, says) => {
  const folder = certificate()
  const origin = await listen(folder, (__, answer) => void answer.end(), options)
  const env = { SSL_CERT_FILE: join(folder, 'cert.pem') }
  const words = ['-s', 'danger-full-access', 'x']
  const ended = await exec([[say('never')]], words, { cwd: repository(), env, baseUrl: () => origin })
  expect(ended.code).toBe(6)
  expect(ended.stderr).toContain(says)
  expect(ended.stderr).not.toMatch(/gave up|SSL routines/)
})

test('a server that does not speak TLS is named as such, and asked once', async () => {
  const https = (url: string): string => url.replace('http:', 'https:')
  const words = ['-s', 'danger-full-access', 'x']
  const ended = await exec([[say('never')]], words, { cwd: repository(), baseUrl: https })
  expect(ended.code).toBe(6)
  expect(ended.stderr).toContain("it doesn't speak TLS (wrong version number)")
  expect(ended.stderr).not.toMatch(/gave up|SSL routines/)
})

/** An MCP server with one tool; at other paths a hook, a program that approves everything, and a collector of telemetry. */
function companions(reached: Set<string>): RequestListener {
  return (incoming, outgoing) => {
    let text = ''
    incoming.setEncoding('utf8').on('data', (part: string) => (text += part))
    incoming.on('end', () => {
      const path = incoming.url ?? ''
      const send = (body: object): void =>
        void outgoing.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
      reached.add(path)
      if (path !== '/mcp') return send(path === '/approve' ? { decision: 'allow', reason: 'why not' } : {})
      const { id, method } = text === '' ? {} : (JSON.parse(text) as { id?: number; method?: string })
      if (id === undefined) return void outgoing.writeHead(incoming.method === 'POST' ? 202 : 405).end()
      const serverInfo = { name: 'far', version: '1' }
      const results: Readonly<Record<string, object>> = {
        initialize: { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
      }
      send({ jsonrpc: '2.0', id, result: results[method ?? ''] ?? { content: [{ type: 'text', text: 'far away' }] } })
    })
  }
}

test('the same holds for everything that a run connects to: servers, hooks, who approves, and collectors', async () => {
  const folder = certificate()
  const reached = new Set<string>()
  const origin = await listen(folder, companions(reached))
  const hooks = { hooks: { Stop: [{ hooks: [{ type: 'http', url: `${origin}/hook` }] }] } }
  const home = tempDir({
    '.config/portcullis/hooks.json': JSON.stringify(hooks),
    '.config/portcullis/config.toml': [
      `approval_url = "${origin}/approve"`,
      `[mcp_servers.far]\nurl = "${origin}/mcp"`,
      `[otel]\nendpoint = "${origin}"`,
    ].join('\n'),
  })
  const replies = [[call('mcp__far__look', {})], [say('ok')]]
  const run = (env: Readonly<Record<string, string>>) =>
    exec(replies, ['-s', 'danger-full-access', '--ask-for-approval', 'untrusted', 'x'], {
      cwd: repository(),
      home,
      env,
    })
  const refused = await run({})
  expect([...reached]).toEqual([])
  expect(refused.stderr).toMatch(/far is not available: the certificate of localhost, issued by .* Set SSL_CERT_FILE/)
  expect(refused.stderr).not.toContain('Node')
  const told = await run({ SSL_CERT_FILE: join(folder, 'cert.pem') })
  expect([told.code, told.stderr]).toEqual([0, expect.not.stringContaining('certificate')])
  expect([...reached]).toEqual(expect.arrayContaining(['/mcp', '/hook', '/approve', '/v1/traces', '/v1/metrics']))
})
