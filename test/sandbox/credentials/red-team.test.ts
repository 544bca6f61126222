import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { connect, createServer, type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { request, start, value } from './attacked-site.ts'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createProxy, type NetworkOptions } from '../../../sandbox/network/proxy.ts'
import { issueCertificate, startTlsSite } from '../../support/tls-site.ts'

const coded = Buffer.from(`user:${value}`).toString('base64')
const id = (digit: string): string => digit.repeat(40)

const allowed = [
  'GET /repos/acme/app/**',
  'POST /repos/acme/app/pulls',
  'graphql createPullRequest',
  'graphql query viewer',
  'git-push refs/heads/agent/* /acme/app',
]

/** Requests of which the site must see nothing. */
const paths = [
  '/repos/acme/app/../other', '/repos/acme/app/..', '/repos/acme/app/./..', '/repos/acme/app/%2e%2e/other',
  '/repos/acme/app/%2E%2e/other', '/repos/acme/app/.%2e/other', '/repos/acme/app/..%2fother', '/repos/acme/app/..%2Fother',
  '/repos/acme/app/%2e%2e%2fother', '/repos/acme/app/%252e%252e/other', '/repos/acme/app/%25%32%65%25%32%65/other',
  '/repos/acme/app/..;/other', '/repos/acme/app/;/../other', '/repos/acme/app/..%3b/other', '/repos/acme/app/x;jsessionid=1',
  '/repos/acme/app/..\\other', '/repos/acme/app/..%5cother', '/repos/acme/app//../other', '//repos/acme/app/x', '/repos//acme/app/x',
  '/repos/acme/app/%2f..%2f..%2fother', '/repos/acme/app/x%00', '/repos/acme/app/x%0d%0aX:%201', '/repos/acme/app/%c0%ae%c0%ae/other',
  '/repos/acme/app/%', '/repos/acme/app/%zz', '/repos/acme/app/x%', '/repos/acme/app/%u002e%u002e/other', '/repos/acme/app2/x',
  '/repos/acme/application', '/repos/Acme/app/x', '/repos/acme%2fapp/x', '/repos/acme/app%2fx', '/repos%2facme/app/x', '/repos/other/app/x',
  '/%72epos/other/x', '/repos/acme', '/repos', '/', '/user', '/user/keys', '/repositories/1/x', '/api/v3/repos/acme/app/x',
  '/./repos/acme/app/x', '/repos/acme/app/x?access_token=mine', '/repos/acme/app/x?a=1&private_token=mine', '/repos/acme/app/x?_method=DELETE',
  '/repos/acme/app/x?%61ccess_token=mine', '/repos/acme/app/x?a;access_token=mine', '/repos/acme/app/x?sudo=root', '/repos/acme/app/x?a=%',
  `/repos/acme/app/${'x/'.repeat(200)}`, `/repos/acme/app/x?${'a'.repeat(20_000)}`,
].map((path) => `GET ${path}`) // prettier-ignore

const methods = [
  ...['DELETE', 'PUT', 'PATCH', 'POST', 'OPTIONS', 'TRACE', 'PROPFIND', 'MERGE', 'LOCK'].map(
    (method) => `${method} /repos/acme/app/x`,
  ),
  ...['DELETE', 'PUT', 'PATCH', 'OPTIONS'].map((method) => `${method} /repos/acme/app/pulls`),
  ...[
    'POST /repos/acme/app/pulls/1',
    'POST /repos/acme/app/pulls/1/merge',
    'POST /repos/acme/app/PULLS',
    'POST /repos/acme/app/pulls.json',
  ],
  ...[
    'GET /graphql',
    'GET /graphql?query={viewer{login}}',
    'PUT /graphql',
    'GET /repos/acme/app/graphql',
    'GET /repos/acme/app/GraphQL.json',
  ],
]

const graphql = [
  '[{"query":"{viewer{login}}"}]',
  '[]',
  '{"query":"mutation{deleteRef(input:{}){x}}"}',
  '{"query":"mutation{a:createPullRequest(input:{}){x} b:deleteRef(input:{}){x}}"}',
  '{"query":"mutation{createPullRequest:deleteRef(input:{}){x}}"}',
  '{"query":"mutation{...f} fragment f on Mutation{deleteRef(input:{}){x}}"}',
  '{"query":"mutation{...f} fragment f on Mutation{...g} fragment g on Mutation{deleteRef(input:{}){x}}"}',
  '{"query":"mutation{... on Mutation{deleteRef(input:{}){x}}}"}',
  '{"query":"mutation{...{deleteRef(input:{}){x}}}"}',
  '{"query":"mutation{...missing}"}',
  '{"query":"query a{viewer{login}} mutation b{deleteRef(input:{}){x}}","operationName":"b"}',
  '{"query":"query a{viewer{login}} mutation b{deleteRef(input:{}){x}}","operationName":"a"}',
  '{"query":"{viewer{login}}","query":"mutation{deleteRef(input:{}){x}}"}',
  '{"query":"{viewer{login} repository(owner:\\"o\\",name:\\"n\\"){id}}"}',
  '{"query":"{__schema{types{name}}}"}',
  '{"query":"subscription{viewer{login}}"}',
  '{"query":"mutation{deleteRef(input:{}){x} @skip(if:true)}"}',
  '{"query":"mutation{createPullRequest(input:{}){x} ...f @include(if:false)} fragment f on Mutation{deleteRef(input:{}){x}}"}',
  '{"extensions":{"persistedQuery":{"version":1,"sha256Hash":"aa"}}}',
  '{"query":"{viewer{login}}","extensions":{}}',
  '{"id":"stored","query":"{viewer{login}}"}',
  '{"documentId":"1"}',
  '{"query":"{viewer{login}"}',
  '{"query":""}',
  '{"query":"# {viewer{login}}"}',
  '{"query":"fragment f on Query{viewer{login}}"}',
  '{"query":"type A{b:C} {viewer{login}}"}',
  '{"query":["{viewer{login}}"]}',
  '{"query":null}',
  '{"query":"{viewer{login}}"',
  'query={viewer{login}}',
  '',
  '"{viewer{login}}"',
  `{"query":"{${'viewer{login}'.repeat(30_000)}}"}`,
]

const packet = (line: string): string => (line.length + 4).toString(16).padStart(4, '0') + line
const commands = (...lines: readonly string[]): string => `${lines.map(packet).join('')}0000PACK`
const update = (from: string, to: string, ref: string, capabilities = 'report-status'): string =>
  `${id(from)} ${id(to)} ${ref}\0${capabilities}`
const pushes = [
  commands(update('0', '1', 'refs/heads/main')),
  commands(update('1', '0', 'refs/heads/agent/x')),
  commands(update('1', '2', 'refs/heads/agent/x')),
  commands(update('0', '1', 'refs/heads/agent/x'), `${id('0')} ${id('1')} refs/heads/main`),
  commands(update('0', '1', 'refs/heads/agent/x'), `${id('0')} ${id('1')} refs/heads/agent/x`),
  commands(update('0', '1', 'refs/heads/agent/../main')),
  commands(update('0', '1', 'refs/heads/agent/x\nrefs/heads/main')),
  commands(update('0', '1', 'refs/heads/agent/x refs/heads/main')),
  commands(update('0', '1', 'refs/heads/agent/x.lock')),
  commands(update('0', '1', 'refs/tags/agent/x')),
  commands(update('0', '1', 'HEAD')),
  commands(update('0', '1', 'refs/heads/agent/x', 'report-status push-options')),
  commands(update('0', '1', 'refs/heads/agent/x', 'report-status push-cert=1')),
  commands(`push-cert\0report-status`),
  commands(update('0', '1', 'refs/heads/agent/x'), `${id('0')} ${id('1')} refs/heads/agent/y\0push-options`),
  commands(`${id('0')} ${id('1').slice(1)} refs/heads/agent/x\0report-status`),
  commands(`${id('0')} ${'1'.repeat(64)} refs/heads/agent/x\0report-status`),
  commands(update('0', '0', 'refs/heads/agent/x')),
  '0004',
  '0003',
  'zzzz',
  '+094',
  `0094${id('0')}`,
  `FFFF${id('0')}`,
  '',
]

describe('a credential is not used', () => {
  test(`for ${paths.length + methods.length} paths and methods that no row covers, or that aren't understood`, async () => {
    const site = await start(allowed)
    for (const line of [...paths, ...methods]) {
      const answer = await site.send(request(site.at, line))
      expect(site.received, line).toEqual([])
      expect(answer, line).toMatch(/^HTTP\/1\.1 (?:403|400)/)
      expect(answer.includes(value), line).toBe(false)
    }
  })

  test(`for ${graphql.length} bodies of GraphQL`, async () => {
    const { send, at, received } = await start(allowed)
    for (const body of graphql) {
      const answer = await send(request(at, 'POST /graphql', ['Content-Type: application/json'], body))
      expect(received, body.slice(0, 200)).toEqual([])
      expect(answer).toMatch(/^HTTP\/1\.1 (?:403|400)/)
    }
    const good = '{"query":"mutation($a:I!){createPullRequest(input:$a){x}}","variables":{"a":1}}'
    for (const headers of [
      ['Content-Type: application/graphql'],
      ['Content-Type: application/json', 'Content-Encoding: gzip'],
      [],
    ]) {
      await send(request(at, 'POST /graphql', headers, good))
      expect(received).toEqual([])
    }
    await send(request(at, 'POST /graphql', ['Content-Type: application/json'], good))
    expect(received).toMatchObject([
      { line: 'POST /graphql', body: good, headers: { authorization: `Bearer ${value}` } },
    ])
  })

  test(`for ${pushes.length} pushes, and requests that only look like git's`, async () => {
    const { send, at, received } = await start(allowed)
    const type = 'Content-Type: application/x-git-receive-pack-request'
    for (const body of pushes) {
      await send(request(at, 'POST /acme/app.git/git-receive-pack', [type], body))
      expect(received, JSON.stringify(body.slice(0, 100))).toEqual([])
    }
    const good = commands(update('0', '1', 'refs/heads/agent/x'))
    for (const line of [
      'POST /acme/other.git/git-receive-pack', 'POST /acme/app.git/git-receive-pack?x', 'PUT /acme/app.git/git-receive-pack',
      'POST /acme/app.git/GIT-RECEIVE-PACK', 'POST /acme/app.git/git-receive-pack/', 'POST /acme/app.git/git-receive-pack/x',
      'POST /acme/app.git/git-upload-pack/git-receive-pack', 'POST /repos/acme/app/git-receive-pack',
      'GET /acme/other.git/info/refs?service=git-receive-pack', 'GET /acme/app.git/info/refs?service=git-receive-pack&x=1',
      'GET /acme/other.git/info/refs?service=git-upload-pack', 'POST /acme/other.git/git-upload-pack', 'GET /acme/app.git/info/refs',
      'GET /acme/app.git/info/refs?service=git-%75pload-pack', 'GET /acme/app.git/HEAD', 'PUT /acme/app.git/refs/heads/main',
    ]) {
      await send(request(at, line, [type], line.startsWith('GET') ? '' : good))
      expect(received, line).toEqual([])
    } // prettier-ignore
    for (const headers of [[], ['Content-Type: text/plain'], [type, 'Content-Encoding: gzip']]) {
      await send(request(at, 'POST /acme/app.git/git-receive-pack', headers, good))
      expect(received).toEqual([])
    }
    await send(request(at, 'POST /acme/app.git/git-receive-pack', [type], good))
    expect(received.map(({ line, body }) => [line, body])).toEqual([['POST /acme/app.git/git-receive-pack', good]])
  })

  test('for other hosts and ports, in other forms, or as a tunnel', async () => {
    const { send, at, host, received } = await start(allowed)
    const path = '/repos/acme/app/x'
    const port = host.split(':')[1]
    const lines = [
      `GET http://evil.test${path}`, `GET http://${host}@evil.test${path}`, `GET http://evil.test@${host}${path}`, `GET http://api.test${path}`,
      `GET http://api.test:80${path}`, `GET http://api.test:8080${path}`, `GET http://${host}.evil.test${path}`, `GET http://api.test.evil.test:${port}${path}`,
      `GET http://127.0.0.1:${port}${path}`, `GET http://[::1]:${port}${path}`, `GET http://0x7f000001:${port}${path}`, `GET http://2130706433:${port}${path}`,
      `GET https://${host}${path}`, `GET ftp://${host}${path}`, `GET //${host}${path}`, 'GET *', `OPTIONS *`, `CONNECT ${host}`,
      'CONNECT api.test:443', `GET http://api.test%2eevil.test:${port}${path}`, `GET http://api.test\\@evil.test${path}`, `GET http://${host}#@evil.test${path}`,
      `GET http://${host}?@evil.test/`, `GET http:///${host}${path}`, `GET http:/${host}${path}`, `GET http://api_test:${port}${path}`, `GET http://xn--api.test:${port}${path}`,
    ] // prettier-ignore
    for (const line of lines) {
      for (const name of [host, 'evil.test'])
        await send(`${line} HTTP/1.1\r\nHost: ${name}\r\nConnection: close\r\n\r\n`)
      expect(received, line).toEqual([])
    }
    await send(`GET ${at.replace('api', 'API')}${path} HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n`)
    expect(received.map(({ line, headers }) => [line, headers.host])).toEqual([[`GET ${path}`, host]])
  })

  test('for another host or path by naming one in the request and another as its host', async () => {
    const { send, at, host, received } = await start(allowed)
    const path = '/repos/acme/app/x'
    for (const lines of [
      `GET ${path} HTTP/1.1\r\nHost: evil.test`,
      `GET ${path} HTTP/1.1\r\nHost: evil.test\r\nHost: ${host}`,
      `GET ${path} HTTP/1.1\r\nHost: ${host}@evil.test`,
      `GET ${path} HTTP/1.1\r\nHost: ${host}, evil.test`,
      `GET ${path} HTTP/1.1\r\nHost: ${host}/`,
      `GET ${path} HTTP/1.1\r\nX-Forwarded-Host: ${host}`,
      `GET ${path} HTTP/1.0`,
      `GET http://evil.test${path} HTTP/1.1\r\nHost: ${host}`,
      `GET /user HTTP/1.1\r\nHost: ${host}`,
      `GET /${at}${path} HTTP/1.1\r\nHost: ${host}`,
      `GET //evil.test${path} HTTP/1.1\r\nHost: ${host}`,
    ]) {
      await send(`${lines}\r\nConnection: close\r\n\r\n`)
      expect(received, lines).toEqual([])
    }
    await send(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nHost: evil.test\r\nConnection: close\r\n\r\n`)
    for (const { headers } of received) expect(headers.host).toBe(host)
  })

  test('for smuggled requests, other protocols and pseudo headers', async () => {
    const { send, at, host, received } = await start(allowed)
    const head = `POST ${at}/repos/acme/app/pulls HTTP/1.1\r\nHost: ${host}\r\n`
    const inner = `DELETE /repos/acme/app HTTP/1.1\r\nHost: ${host}\r\n\r\n`
    const tries = [
      `${head}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Content-Length: 0\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      `${head}Content-Length: 0, ${inner.length}\r\n\r\n${inner}`,
      `${head}Content-Length: +0\r\n\r\n${inner}`,
      `${head}Content-Length: -1\r\n\r\n${inner}`,
      `${head}Content-Length: 0x0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding:\x0bchunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}X: 1\r\n Transfer-Encoding: chunked\r\n\r\n${inner}`,
      `${head}X: 1\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\n\r\n0;a=\n\r\n\r\n${inner}`,
      `${head}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n${inner}`,
      `${head}:method: DELETE\r\n:path: /repos/acme/app\r\n\r\n`,
      `${head}Connection: content-length, host\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`,
      `${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}${inner}`,
      `${head}Content-Length: 0\r\n\r\n${inner}`,
      `GET ${at}/repos/acme/app/x HTTP/1.1\r\nHost: ${host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nSec-WebSocket-Version: 13\r\n\r\n`,
      `GET ${at}/repos/acme/app/x HTTP/1.1\r\nHost: ${host}\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
      `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
      `GET ${at}/user\r\n\r\n`,
      `GET ${at}/user HTTP/0.9\r\n\r\n`,
      `GET\t${at}/user HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `GET ${at}/repos/acme/app/x /user HTTP/1.1\r\nHost: ${host}\r\n\r\n`,
      `\x05\x01\x00\x05\x01\x00\x03\x08api.test\x01\xbb`,
    ]
    for (const bytes of tries) {
      await send(Buffer.from(bytes, 'latin1'))
      for (const { line } of received) expect(line, bytes).toBe('POST /repos/acme/app/pulls')
    }
  })

  test('together with what a command sends to identify itself, or to change what the request is', async () => {
    const { send, at, host, received } = await start(allowed)
    const headers = [
      'Authorization: Bearer mine', 'Authorization: Basic bWluZQ==', 'Cookie: session=mine', 'PRIVATE-TOKEN: mine', 'JOB-TOKEN: mine', 'X-Api-Key: mine',
      'Api-Key: mine', 'X-Goog-Api-Key: mine', 'X-Amz-Security-Token: mine', 'Proxy-Authorization: Basic bWluZQ==', 'X_Auth_Token: mine', 'Sudo: mine',
      'X-HTTP-Method-Override: mine', 'X-HTTP-Method: mine', 'X-Method-Override: mine', 'X-Original-URL: mine', 'X-Rewrite-URL: mine', 'X-Forwarded-Host: mine',
      'X-Forwarded-Proto: mine', 'Forwarded: host=mine', 'X-Original-Host: mine', 'From: mine', 'Via: 1.1 mine', 'CF-Connecting-IP: mine',
    ] // prettier-ignore
    for (const header of headers) await send(request(at, 'GET /repos/acme/app/x', [header]))
    await send(request(at, 'GET /repos/acme/app/x', ['Authorization: a', 'Authorization: b', 'authorization: c']))
    expect(received).toHaveLength(headers.length + 1)
    for (const { headers: seen } of received) {
      expect(JSON.stringify(seen)).not.toMatch(/mine|bWluZQ/)
      expect(seen).toEqual({ host, connection: 'keep-alive', authorization: `Bearer ${value}` })
    }
  })

  test('to make or store another secret, whatever the rows allow', async () => {
    const { send, at, received } = await start(['* /**', 'graphql *'])
    for (const line of [
      'POST /app/installations/1/access_tokens', 'POST /applications/x/token/scoped', 'POST /authorizations', 'GET /login/oauth/authorize', 'POST /login/oauth/access_token',
      'POST /repos/acme/app/keys', 'POST /repos/acme/app/KEYS', 'POST /repos/acme/app/keys.json', 'POST /repositories/1/keys', 'POST /user/keys', 'POST /user/gpg_keys',
      'POST /user/ssh_signing_keys', 'POST /repos/acme/app/hooks', 'PATCH /repos/acme/app/hooks/1/config', 'PATCH /app/hook/config', 'PUT /repos/acme/app/actions/secrets/X',
      'PUT /repos/acme/app/environments/e/secrets/X', 'PUT /orgs/acme/dependabot/secrets/X', 'POST /repos/acme/app/actions/runners/registration-token',
      'POST /acme/app.git/info/lfs/objects/batch', 'POST /api/v4/projects/1/access_tokens', 'POST /api/v4/projects/1/deploy_tokens', 'POST /api/v4/projects/1/deploy_keys',
      'POST /api/v4/projects/1/hooks', 'GET /api/v4/projects/1/variables', 'POST /api/v4/projects/1/triggers', 'POST /api/v4/personal_access_tokens/1/rotate',
      'POST /oauth/token', 'GET /jwt/auth', 'POST /-/npm/v1/tokens', 'GET /-/npm/v1/tokens', 'PUT /-/user/org.couchdb.user:x', 'POST /-/npm/v1/oidc/token/exchange/package/x',
      'POST /_/oidc/mint-token', 'POST /v1/organization/admin_api_keys', 'GET /v1/organizations/api_keys', 'POST /v1/realtime/client_secrets', 'POST /v1/realtime/sessions',
    ]) {
      expect(await send(request(at, line)), line).toContain('allowed only by a row that contains')
      expect(received, line).toEqual([])
    } // prettier-ignore
    for (const field of [
      'addDeployKey',
      'regenerateEnterpriseIdentityProviderRecoveryCodesToken',
      'createWebhook',
      'setOrganizationSecret',
    ]) {
      await send(
        request(
          at,
          'POST /graphql',
          ['Content-Type: application/json'],
          JSON.stringify({ query: `mutation{${field}(input:{}){x}}` }),
        ),
      )
      expect(received, field).toEqual([])
    }
  })

  test('where the address is not that of the host, or a rule forbids the host', async () => {
    const other = await startTlsSite(issueCertificate(['evil.test']), (_, response) => void response.end('evil'))
    const line = 'GET /repos/acme/app/x'
    for (const options of [
      { resolve: async () => ['169.254.169.254'] },
      { resolve: async () => ['127.0.0.1', '169.254.169.254'] },
      { resolve: async () => [] },
      { forbids: () => 'the rule of a repository' },
      { secretOf: () => undefined },
    ] satisfies NetworkOptions[]) {
      const { send, at, received } = await start(allowed, options)
      expect(await send(request(at, line))).toMatch(/^HTTP\/1\.1 50[23]/)
      expect(received).toEqual([])
    }
    // Another server has the address, but not the certificate.
    const credentials = [{ name: 'app', hosts: [`api.test:${other}`], as: 'bearer', allow: allowed }] as const
    const session = createProxy(
      [],
      { secretOf: () => value, resolve: async () => ['127.0.0.1'] },
      [],
      credentials,
    ).startSession()
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    session.attach(server)
    onTestFinished(() => void session.end())
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    socket.write(request(`http://api.test:${other}`, line))
    expect(await text(socket)).toMatch(/^HTTP\/1\.1 502/)
  })
})

describe('an allowed host that sends the value', () => {
  const echo = `a ${value} b ${coded} c ${Buffer.from(`x${value}`).toString('base64')} d ${Buffer.from(`xy${value}`).toString('base64')}`
  const answers: Readonly<Record<string, (response: ServerResponse) => unknown>> = {
    plain: (response) => response.end(echo),
    gzip: (response) => response.setHeader('content-encoding', 'gzip').end(gzipSync(echo)),
    br: (response) => response.setHeader('content-encoding', 'br').end(brotliCompressSync(echo)),
    zstd: (response) => response.setHeader('content-encoding', 'zstd').end(zstdCompressSync(echo)),
    json: (response) => response.setHeader('content-type', 'application/vnd.api+json').end(JSON.stringify({ echo })),
    pieces: (response) => {
      for (const letter of echo) response.write(letter)
      response.end()
    },
    header: (response) => response.setHeader('x-echo', `Bearer ${value}`).end(),
    redirect: (response) => response.writeHead(302, { location: `https://evil.test/?${value}` }).end(),
    cookie: (response) => response.setHeader('set-cookie', 'session=minted').end(),
    reason: (response) => response.writeHead(200, value).end(),
    error: (response) => response.writeHead(401, { 'content-type': 'text/html' }).end(`<p>${value}</p>`),
  }

  test('in any of its answers is masked', async () => {
    const { send, at, received } = await start(allowed, {}, (message, response) =>
      answers[message.url?.split('/').at(-1) ?? '']?.(response),
    )
    for (const name of Object.keys(answers)) {
      const answer = await send(request(at, `GET /repos/acme/app/${name}`, ['Accept-Encoding: gzip, br, zstd']))
      for (const form of [value, coded.slice(8, -4), value.slice(4), 'minted'])
        expect(answer.includes(form), name).toBe(false)
    }
    expect(received).toHaveLength(Object.keys(answers).length)
  })

  test('sends an event of a stream as soon as it is complete, and leads on its own links back to the proxy', async () => {
    const { send, at, host } = await start(allowed, {}, (message, response) => {
      if (message.url?.endsWith('/moved') === true) {
        response
          .writeHead(307, {
            location: `https://${host}/repos/acme/app/x`,
            link: `<https://${host}/a?page=2>; rel="next", <https://evil.test/>; rel=x`,
          })
          .end()
      } else response.setHeader('content-type', 'text/event-stream').end('data: K\n\n')
    })
    const moved = await send(request(at, 'GET /repos/acme/app/moved'))
    expect(moved).toContain(`location: ${at}/repos/acme/app/x`)
    expect(moved).toContain(`<${at}/a?page=2>; rel="next", <https://evil.test/>; rel=x`)
    expect(await send(request(at, 'GET /repos/acme/app/events'))).toContain('data: K\n\n')
  })
})
