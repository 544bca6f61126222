import { gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { request, start, value } from './attacked-site.ts'

const allowed = [
  'GET /repos/acme/app/**',
  'POST /repos/acme/app/pulls',
  'graphql createPullRequest',
  'graphql query viewer',
  'git-push refs/heads/agent/* /acme/app',
]
const json = 'Content-Type: application/json'

describe('a credential is not used, by tries of another team,', () => {
  const targets = [
    // Another spelling of dots, slashes and parameters.
    '/repos/acme/app/%2E%2E', '/repos/acme/app/%2e.', '/repos/acme/app/x/%2e%2e/%2e%2e/%2e%2e/user', '/repos/acme/app/%252f..%252fother',
    '/repos/acme/app/x%2f%2e%2e%2f%2e%2e%2fother', '/repos/acme/app/x%2F', '/repos/acme/app/%2F', '/repos/acme/app/x/%2f', '/repos/acme/app/.%00./x',
    '/repos/acme/app/..%09/x', '/repos/acme/app/%0a', '/repos/acme/app/%0d%0aHost:%20evil', '/repos/acme/app/x%7f', '/repos/acme/app/x%c2%85',
    '/repos/acme/app/..%c0%af', '/repos/acme/app/%e0%80%ae', '/repos/acme/app/%f0%80%80%ae', '/repos/acme/app/%ed%a0%80', '/repos/acme/app/%ff',
    '/repos/acme/app/..;a=b/x', '/repos/acme/app;a=b/x', '/repos;/acme/app/x', '/repos/acme/app/x;.css', '/repos/acme/app/x%3bv=1', '/repos/acme/app/x%5c..%5cy',
    '/repos/acme/app/x%255c', '/repos/acme\\app/x', '/repos/acme/app/x|y', '/repos/acme/app/{x}', '/repos/acme/app/<x>', '/repos/acme/app/"x"', '/repos/acme/app/x^y',
    '/repos/acme/app/`x`', '/repos/acme/app/x y', '/repos/acme/app/x\ty', '/repos/acme/app/é', '/repos/acme/app/x#y', '/repos/acme/app#/../x', '/repos/acme/app?/../x#',
    // Another repository, by what looks like the allowed one.
    '/repos/acme/app.git/x', '/repos/acme/app%20/x', '/repos/acme/%61pp%2e/x', '/repos/acme/ap', '/repos/acme//app/x', '/repos//acme/app/x', '/repos/acme/APP/x',
    '/REPOS/acme/app/x', '/repos/acme/app%2Fx/y', '/repos%2Facme%2Fapp%2Fx', '/api/repos/acme/app/x', '/repos/acme/аpp/x', '/repos/acme/ap%70%32/x',
    '/users/acme', '/orgs/acme', '/search/code?q=x', '/notifications', '/installation/repositories', '/user/repos', '/graphql/repos/acme/app/x', '/x/../repos/acme/app/x',
    // Queries that are another identity or method.
    '/repos/acme/app/x?accessToken=mine', '/repos/acme/app/x?access-token=mine', '/repos/acme/app/x?authToken=mine', '/repos/acme/app/x?private-token=mine',
    '/repos/acme/app/x?ACCESS_TOKEN=mine', '/repos/acme/app/x?a=1&&token=mine', '/repos/acme/app/x?%74oken=mine', '/repos/acme/app/x?token', '/repos/acme/app/x?+token=mine',
    '/repos/acme/app/x?job_token=mine', '/repos/acme/app/x?jobToken=mine', '/repos/acme/app/x?api-key=mine', '/repos/acme/app/x?apiKey=mine', '/repos/acme/app/x?x-http-method-override=DELETE',
    '/repos/acme/app/x?_METHOD=DELETE', '/repos/acme/app/x?method=GET&_method=PUT', '/repos/acme/app/x?%5fmethod=PUT', '/repos/acme/app/x?client-secret=mine', '/repos/acme/app/x?clientSecret=mine',
    '/repos/acme/app/x?oauth_token=mine', '/repos/acme/app/x?a=%zz', '/repos/acme/app/x?%', '/repos/acme/app/x?a=<', '/repos/acme/app/x?tok%00en=mine', '/repos/acme/app/x?token%00=mine',
    '/repos/acme/app/x?token[]=mine', '/repos/acme/app/x?token[0]=mine', '/repos/acme/app/x?_method[]=PUT',
  ] // prettier-ignore

  test(`for ${targets.length} targets`, async () => {
    const { send, at, received } = await start(allowed)
    for (const target of targets) {
      await send(Buffer.from(`GET ${at}${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`))
      expect(received, target).toEqual([])
    }
  })

  test('for bodies of GraphQL that servers may read in another way', async () => {
    const { send, at, received } = await start(allowed)
    const bodies = [
      '{"query":"query a{viewer{login}} query b{repository{id}}","operationName":"a"}',
      '{"query":"query($x:Boolean!){viewer{login} repository @include(if:$x){id}}","variables":{"x":false}}',
      '{"query":"query{viewer:repository{id}}"}',
      '{"query":"query{...on Query{...on Query{repository{id}}}}"}',
      '{"query":"query{...a} fragment a on Query{...b} fragment b on Query{...a repository{id}}"}',
      '{"query":"mutation a{createPullRequest(input:{}){x}} mutation b{mergePullRequest(input:{}){x}}","operationName":null}',
      '{"query":"mutation{createPullRequest(input:{}){x}} {repository{id}}"}',
      '{"query":"query{viewer{login}}","operationName":"x","mutation":"y"}',
      '{"query":"{viewer{login}}","Query":"mutation{deleteRef{x}}"}',
      '{"query":"{viewer{login}}","doc_id":"1"}',
      '{"query":"{viewer{login}}","queryId":"1"}',
      '{"query":"{viewer{login}}","hash":"1"}',
      '{"query":"{viewer{login}}","__proto__":{"query":"x"}}',
      '{"query":"{viewer{login}}\\u0000mutation{x}"}',
      '{"query":"\\ufeff{repository{id}}"}',
      '\ufeff{"query":"{viewer{login}}"}',
      '{"query":"{viewer{login}}"}{"query":"mutation{deleteRef{x}}"}',
      '{"query":"{viewer{login}}"},',
      '[[{"query":"{viewer{login}}"}]]',
      '{"0":{"query":"{viewer{login}}"}}',
      '{"query":{"query":"{viewer{login}}"}}',
      '{"query":"schema{query:X} {viewer{login}}"}',
      '{"query":"extend type Query{x:Y} {viewer{login}}"}',
      '{"query":"directive @x on FIELD {viewer{login}}"}',
      '{"query":"query{viewer{login}}","variables":{},"extensions":null}',
      '{"query":"{__typename}"}',
      '{"query":"query{node(id:1){... on Repository{id}}}"}',
      '{"query":"{viewer{login}} subscription{x}"}',
      '{"query":"query q{viewer{login}} fragment q on Mutation{deleteRef{x}} mutation{...q}"}',
      `{"query":"{${'...{'.repeat(6000)}viewer{login}${'}'.repeat(6000)}}"}`,
      `{"query":"${'{a'.repeat(9000)}${'}'.repeat(9000)}"}`,
    ]
    for (const body of bodies) {
      const answer = await send(request(at, 'POST /graphql', [json], body))
      expect(received, body.slice(0, 100)).toEqual([])
      expect(answer, body.slice(0, 100)).toMatch(/^HTTP\/1\.1 (?:403|400)/)
    }
    const deep = `{"query":"{viewer{login}}","variables":${'['.repeat(200_000)}${']'.repeat(200_000)}}`
    await send(request(at, 'POST /graphql', [json], deep))
    received.splice(0)
    const good = '{"query":"{viewer{login}} #+ACI-,+ACI-query+ACI-:+ACI-mutation"}'
    for (const line of ['POST /graphql?operationName=b', 'POST /graphql?query=x', 'PATCH /graphql', 'POST /graphql;x', 'QUERY /graphql']) {
      await send(request(at, line, [json], good))
      expect(received, line).toEqual([])
    } // prettier-ignore
    for (const type of ['application/json; charset=utf-7', 'application/json;charset=utf-16', 'application/json\r\nContent-Type: application/graphql']) {
      await send(request(at, 'POST /graphql', [`Content-Type: ${type}`], good))
    } // prettier-ignore
    for (const { headers } of received) expect(headers['content-type']).toBe('application/json')
    await send(request(at, 'POST /graphql', [json, 'Content-Encoding: identity', 'Content-Encoding: gzip'], good))
    await send(
      request(
        at,
        'POST /graphql',
        ['Content-Type: multipart/form-data; boundary=x', 'Content-Type: application/json'],
        good,
      ),
    )
    for (const { headers } of received) expect(headers).not.toHaveProperty('content-encoding')
  })

  const packet = (line: string): string => (Buffer.byteLength(line) + 4).toString(16).padStart(4, '0') + line
  const [zero, one, two] = ['0'.repeat(40), '1'.repeat(40), '2'.repeat(40)]
  const push = (...lines: readonly string[]): string => `${lines.map(packet).join('')}0000PACK`
  const ref = (name: string, more = ' report-status atomic', from = zero, to = one): string =>
    `${from} ${to} ${name}\0${more}`
  const pushes = [
    push(ref('refs/heads/agent/../main')), push(ref('refs/heads/agent/./x')), push(ref('refs/heads/agent//x')), push(ref('refs/heads/agent/')), push(ref('refs/heads/agent')),
    push(ref('refs/heads/agent/x/')), push(ref('refs/heads/agent/.x')), push(ref('refs/heads/agent/x.lock/y')), push(ref('refs/heads/agent/x@{1}')), push(ref('refs/heads/agent/x~1')),
    push(ref('refs/heads/agent/x:refs/heads/main')), push(ref('+refs/heads/agent/x')), push(ref('refs/heads/Agent/x')), push(ref('REFS/heads/agent/x')), push(ref('refs/for/agent/x')),
    push(ref('refs/for/main%submit')), push(ref('refs/heads/agentx')), push(ref('refs/remotes/origin/main')), push(ref('refs/notes/x')), push(ref('refs/replace/x')), push(ref('refs/pull/1/head')),
    push(ref('refs/merge-requests/1/head')), push(ref('refs/changes/1/1/1')), push(ref('refs/meta/config')), push(ref('refs/heads/agent/x\u0001')), push(ref('refs/heads/agent/x\t')),
    push(ref('refs/heads/agent/x'), `${zero} ${one} refs/heads/main`), push(`${zero} ${one} refs/heads/main\0report-status atomic`, `${zero} ${one} refs/heads/agent/x`),
    push(ref('refs/heads/agent/x'), `${one} ${zero} refs/heads/agent/y`), push(ref('refs/heads/agent/x', 'report-status', one, two)), push(ref('refs/heads/agent/x', 'report-status', one, one)),
    push(ref('refs/heads/agent/x', 'push-options')), push(ref('refs/heads/agent/x', 'push-cert=nonce')), push(ref('refs/heads/agent/x', 'agent=x push-options')), push(ref('refs/heads/agent/x', 'unknown')),
    push(ref('refs/heads/agent/x', 'object-format=md5')), push(ref('refs/heads/agent/x', 'filter')), push(ref('refs/heads/agent/x', 'report-status\0push-options')),
    push(`push-cert\0 report-status`, 'certificate version 0.1', 'pusher x', `nonce y`, '', `${zero} ${one} refs/heads/main`, 'push-cert-end'),
    push(`shallow ${one}\0report-status`, `${zero} ${one} refs/heads/main`), push(`shallow ${one}`, ref('refs/heads/main')), push('command=ls-refs'), push('version 2', ref('refs/heads/main')),
    `${packet(ref('refs/heads/agent/x'))}0001${packet(`${zero} ${one} refs/heads/main`)}0000PACK`, `${packet(ref('refs/heads/agent/x'))}0002`, push(ref('HEAD')), push(ref('refs/heads/agent/x HEAD')),
    push(`${zero}  ${one} refs/heads/agent/x\0`), push(`${zero.toUpperCase()}\t${one} refs/heads/agent/x\0`), push(`${'A'.repeat(40)} ${one} refs/heads/agent/x\0`), push(ref('')),
  ] // prettier-ignore

  test(`for ${pushes.length} pushes`, async () => {
    const { send, at, received } = await start(allowed)
    const type = 'Content-Type: application/x-git-receive-pack-request'
    for (const body of pushes) {
      await send(request(at, 'POST /acme/app.git/git-receive-pack', [type], body))
      expect(received, JSON.stringify(body.slice(0, 100))).toEqual([])
    }
    const good = push(ref('refs/heads/agent/x'))
    for (const line of [
      'POST /acme/app.git/git-upload-archive', 'POST /acme/app.git/info/lfs/objects/batch', 'POST /acme/app.git/info/lfs/locks', 'GET /acme/app.git/objects/info/packs', 'GET /acme/app.git/info/refs',
      'GET /acme/app.git/config', 'MKCOL /acme/app.git/refs/x', 'PROPFIND /acme/app.git/', 'LOCK /acme/app.git/refs/heads/main', 'MOVE /acme/app.git/x', 'PUT /acme/app.git/objects/x',
      'GET /acme/app.git/info/refs?service=git-receive-pack&service=git-upload-pack', 'GET /acme/app.git/info/refs?service=git-upload-archive', 'GET /acme/app.git/info/refs?SERVICE=git-receive-pack',
      'GET /acme/app.git/info/refs/?service=git-receive-pack', 'POST /acme/app.git/info/refs?service=git-receive-pack', 'POST /acme/app/x/git-receive-pack', 'POST /git-receive-pack', 'POST /acme/app.git.git/git-receive-pack',
      'POST /acme/app.git%2fgit-receive-pack', 'POST /acme%2fapp.git/git-receive-pack', 'POST /acme/app.git/git-receive-pack%20', 'POST /acme/App/git-receive-pack', 'POST /acme/app.wiki.git/git-receive-pack',
    ]) {
      await send(request(at, line, [type], /^GET|^PROP/.test(line) ? '' : good))
      expect(received, line).toEqual([])
    } // prettier-ignore
    for (const headers of [[`${type}; charset=x`], [`${type}\r\nContent-Encoding: gzip`], [`${type}\r\nContent-Encoding: zstd`], ['Content-Type: application/json', type], ['content-type: application/x-git-upload-pack-request']]) {
      await send(request(at, 'POST /acme/app.git/git-receive-pack', headers, good))
      expect(received).toEqual([])
    } // prettier-ignore
    await send(
      Buffer.concat([
        Buffer.from(
          request(at, 'POST /acme/app.git/git-receive-pack', [
            type,
            'Content-Encoding: gzip',
            `Content-Length: ${gzipSync(good).length}`,
          ]),
        ),
        gzipSync(good),
      ]),
    )
    expect(received).toEqual([])
  })

  test('for requests that are framed in another way', async () => {
    const { send, at, host, received } = await start([...allowed, 'DELETE /repos/acme/app/x'])
    const inner = `DELETE /user HTTP/1.1\r\nHost: ${host}\r\nX: `
    const head = (line: string): string => `${line} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n`
    const [get, post] = [head(`GET ${at}/repos/acme/app/x`), head(`POST ${at}/repos/acme/app/pulls`)]
    for (const bytes of [
      // A server that takes no body with such a request would read another request in it.
      `${get}Content-Length: ${inner.length}\r\n\r\n${inner}`, `${get}Transfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`,
      `${head(`HEAD ${at}/repos/acme/app/x`)}Content-Length: ${inner.length}\r\n\r\n${inner}`,
      `${post}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n${inner}`, `${post}Transfer-Encoding: identity, chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${inner}`,
      `${post}Transfer-Encoding: gzip, chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n${inner}`, `${post}Content-Length: 3\r\nContent-Length: 4\r\n\r\n{}{}`, `${post}Content-Length:3 4\r\n\r\n{}`,
      `${post}Transfer-Encoding: chunked\r\n\r\n3\n{}\n0\n\n${inner}`, `${post}Transfer-Encoding: chunked\r\n\r\n-1\r\n${inner}`, `${post}Transfer-Encoding: chunked\r\n\r\n0x2\r\n{}\r\n0\r\n\r\n`,
      `${post}\0: x\r\n\r\n`, `${post} X: y\r\n\r\n`, `${post}X\r\n\r\n`, `${post}X: a\rY: b\r\n\r\n`, `${post}X: \0\r\n\r\n`, `${post}Content-Length: 1_0\r\n\r\n${inner}`,
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\x00\x00\x00\x04\x00\x00\x00\x00\x00', `TRACE ${at}/repos/acme/app/x HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
      `CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 5\r\n\r\nGET /`, `GET ${at}/repos/acme/app/x HTTP/1.1 x\r\nHost: x\r\n\r\n`,
      `${get}Upgrade: websocket\r\nConnection: upgrade\r\n\r\n`, `GET ${at}/repos/acme/app/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: HTTP/2.0\r\n\r\n`,
      `GET ${at}/repos/acme/app/x HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: TLS/1.0\r\n\r\n`,
    ]) {
      await send(Buffer.from(bytes, 'latin1'))
      expect(received.filter(({ line }) => line !== 'POST /repos/acme/app/pulls'), bytes).toEqual([])
    } // prettier-ignore
    for (const { headers } of received) expect(headers).not.toHaveProperty('transfer-encoding', 'gzip, chunked')
    received.splice(0)
    await send(
      `${post}Transfer-Encoding: chunked\r\nTrailer: Authorization\r\nTE: trailers\r\n\r\n2;a="\n";b\r\n{}\r\n0\r\nAuthorization: Bearer mine\r\nX-Http-Method: PUT\r\n\r\n`,
    )
    await send(`${post}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}`)
    await send(`${get}Range: bytes=0-3\r\nIf-Range: x\r\n\r\n`)
    await send(`${get}Connection: authorization, host, accept\r\nAccept: */*\r\n\r\n`)
    for (const { headers } of received) {
      expect(headers.authorization).toBe(`Bearer ${value}`)
      for (const name of ['trailer', 'te', 'expect', 'range', 'if-range']) expect(headers).not.toHaveProperty(name)
      expect(JSON.stringify(headers)).not.toContain('mine')
    }
  })

  test('together with other names for an identity or an address', async () => {
    const { send, at, received } = await start(allowed)
    const names = [
      'Remote-User', 'X-Remote-User', 'X-Auth-User', 'X-Auth-Email', 'X-Auth-Key', 'X-Authenticated-User', 'Impersonate-User', 'X-WebAuth-User', 'Ssl-Client-Cert', 'X-Ssl-Client-Dn', 'X-Client-Cert', 'X-Host',
      'X-Url', 'X-Original-Url', 'X-Forwarded-Path', 'X-Proxy-Url', 'Base-Url', 'Request-Uri', 'X-Gitlab-Token', 'Job-Token', 'Deploy-Token', 'X-Csrf-Token', 'X-Amz-Date-Signature', 'Destination',
      'X-Http-Destinationurl', 'X_Forwarded_Host', 'X.Forwarded.Host', 'Cookie', 'Authorization', 'Proxy-Authorization', 'X-Method-Override', 'X-HTTP-Method', 'Front-End-Https',
    ] // prettier-ignore
    for (const name of names) await send(request(at, 'GET /repos/acme/app/x', [`${name}: mine`]))
    expect(received).toHaveLength(names.length)
    for (const { headers } of received) expect(JSON.stringify(headers)).not.toContain('mine')
  })

  test('by a form that names another method or identity', async () => {
    const { send, at, received } = await start([...allowed, 'POST /**'])
    const form = 'Content-Type: application/x-www-form-urlencoded'
    for (const body of ['_method=DELETE', 'a=1&_method=delete', '%5Fmethod=PUT', 'a=1;_method=PUT', 'private_token=mine', 'a=b&accessToken=mine', '_method[]=PUT']) {
      await send(request(at, 'POST /repos/acme/app/x', [form], body))
      expect(received, body).toEqual([])
    } // prettier-ignore
    const multipart = (disposition: string): string =>
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n\r\nDELETE\r\n--b--\r\n`
    for (const disposition of ['name="_method"', 'name=_method', 'NAME="_METHOD"', 'name="private_token"', "name*=utf-8''_method", 'name="a"; name="_method"', 'name="%5Fmethod"']) {
      await send(request(at, 'POST /repos/acme/app/x', ['Content-Type: multipart/form-data; boundary=b'], multipart(disposition)))
      expect(received.filter(({ body }) => body !== 'cut off'), disposition).toEqual([])
    } // prettier-ignore
    received.splice(0)
    await send(request(at, 'POST /repos/acme/app/x', [form], 'title=a&body=_method'))
    expect(received).toMatchObject([{ body: 'title=a&body=_method' }])
  })

  test('to make or store another secret, at addresses that the first table lacked', async () => {
    const { send, at, received } = await start(['* /**', 'graphql *'])
    for (const line of [
      'GET /copilot_internal/v2/token', 'POST /user/codespaces', 'POST /repos/acme/app/codespaces', 'POST /v1/realtime/transcription_sessions', 'POST /v1/chatkit/sessions', 'POST /api/v4/session',
      'POST /api/oauth/claude_cli/create_api_key', 'GET /token', 'GET /v2/token', 'POST /api/v4/projects/1/pipeline_schedules/1/variables', 'GET /api/v4/projects/1/secure_files/1/download',
      'PUT /api/v4/projects/1/integrations/slack', 'POST /api/v4/projects/1/remote_mirrors', 'POST /api/v4/projects/1/cluster_agents/1/tokens', 'POST /-/v1/login', 'POST /-/npm/v1/user',
      'POST /v1/api_keys', 'POST /api/v4/runners/reset_registration_token', 'POST /api/v4/runners/1/reset_authentication_token',
    ]) {
      expect(await send(request(at, line)), line).toContain('allowed only by a row that contains')
      expect(received, line).toEqual([])
    } // prettier-ignore
    for (const field of ['createMigrationSource', 'startRepositoryMigration']) {
      await send(request(at, 'POST /graphql', [json], JSON.stringify({ query: `mutation{${field}(input:{}){x}}` })))
      expect(received, field).toEqual([])
    }
  })
})

test('a push in very many pieces is judged in the time of one in a single piece', async () => {
  const { send, at, received } = await start(allowed)
  const id = (digit: string): string => digit.repeat(40)
  const lines = Array.from(
    { length: 1500 },
    (_, at) => `${id('0')} ${id('1')} refs/heads/agent/${at}${at === 0 ? '\0' : ''}`,
  )
  const body = `${lines.map((line) => (line.length + 4).toString(16).padStart(4, '0') + line).join('')}0000PACK`
  const pieces = `${[...body].map((letter) => `1\r\n${letter}\r\n`).join('')}0\r\n\r\n`
  const headers = ['Content-Type: application/x-git-receive-pack-request', 'Transfer-Encoding: chunked']
  await send(request(at, 'POST /acme/app.git/git-receive-pack', headers) + pieces, 60_000)
  expect(received.map((one) => one.body)).toEqual([body])
})

describe('an allowed host', () => {
  test('that sends the value in other forms, or in parts, sends it masked', async () => {
    const odd = 'Kq7v>>>?Zp9???>>>N6cYd1sFg~~~5aQe'
    const echo = [0, 1, 2].map((offset) => Buffer.from('xxx'.slice(0, offset) + odd).toString('base64url')).join(' ')
    const { send, at } = await start(
      allowed,
      { secretOf: () => odd },
      (_, response) => void response.end(`a ${echo} b`),
    )
    const answer = await send(request(at, 'GET /repos/acme/app/x'))
    for (const offset of [0, 1, 2])
      expect(answer).not.toContain(
        Buffer.from('xxx'.slice(0, offset) + odd)
          .toString('base64url')
          .slice(offset + 1, -4),
      )
  })

  test('that sends what no server should does no harm', async () => {
    for (const answer of [
      'HTTP/1.1 200 \x01\x7f\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 200 OK\r\nX: a\x01b\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\nhello',
      'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok', 'HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 099 X\r\n\r\n', 'HTTP/1.1 000 X\r\n\r\n',
      'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc', 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab', 'HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nabc', '\x16\x03\x01', '',
      'HTTP/1.1 200 OK\r\nX: é\xff\r\nContent-Length: 0\r\n\r\n', 'HTTP/1.1 304 Not Modified\r\nContent-Encoding: br\r\n\r\n', 'HTTP/1.1 200 OK\r\nLocation: http://[\r\nContent-Length: 0\r\n\r\n',
    ]) {
      const { send, at } = await start(allowed, {}, (_, response) => void response.socket?.end(Buffer.from(answer, 'latin1')))
      await send(request(at, 'GET /repos/acme/app/x'))
      await send(request(at, 'HEAD /repos/acme/app/x'))
    } // prettier-ignore
  })
})
