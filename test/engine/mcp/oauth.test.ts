import { generateKeyPairSync } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { call, say } from '../../support/mock-openai.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { exec, repository, type Exec } from '../../support/workspace.ts'
import { startOAuthServer, type OAuthServer } from './oauth-server.ts'

/** A user's home with a server whose client proves itself. */
function homeWith({ url }: OAuthServer, more = '', files: Readonly<Record<string, string>> = {}): string {
  const table = `[mcp_servers.guarded]\nurl = "${url}"\n${more}`
  return tempDir({ '.config/portcullis/config.toml': `permissions.allow = ["mcp__guarded"]\n${table}`, ...files })
}
const bySecret =
  'oauth = { grant = "client_credentials", client_id = "ci", client_secret_env_var = "GUARDED_SECRET" }\n'
const env = { GUARDED_SECRET: 'the-secret-of-the-client' }

function run(home: string, command?: string): Promise<Exec> {
  const first = command === undefined ? call('mcp__guarded__whoami', {}) : call('exec_command', { cmd: command })
  return exec([[first], [say('done')]], ['--json', 'go'], { cwd: repository(), home, env })
}

const tokensOf = (home: string): readonly string[] => {
  const folder = join(home, '.local/state/portcullis/mcp-tokens')
  return readdirSync(folder).map((name) => join(folder, name))
}

describe.skipIf(needsBubblewrap())('servers that ask for a token', () => {
  test('a client proves itself with its secret, and the next run uses the stored token', async () => {
    const server = await startOAuthServer({ scopes: 'read write' })
    const home = homeWith(server, bySecret)
    const { code, events } = await run(home)
    expect([code, JSON.stringify(events)]).toEqual([0, expect.stringContaining('called with [token of guarded]')])
    const [{ form, authorization } = { form: new URLSearchParams(), authorization: '' }] = server.asked
    expect(Object.fromEntries(form)).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      resource: server.url,
    })
    expect(authorization).toBe(`Basic ${btoa('ci:the-secret-of-the-client')}`)
    await run(home)
    expect(server.asked).toHaveLength(1)
    server.valid.clear()
    expect((await run(home)).code).toBe(0)
    expect(server.asked).toHaveLength(2)
  })

  test('a client signs with its key, and asks only for the scopes that the user names', async () => {
    const server = await startOAuthServer({ scopes: 'read write admin' })
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' })
    const home = homeWith(
      server,
      'scopes = ["read"]\noauth = { grant = "client_credentials", client_id = "ci", private_key_env_var = "KEY_PEM" }\n',
    )
    const replies = [[call('mcp__guarded__whoami', {})], [say('done')]]
    await exec(replies, ['--json', 'go'], { cwd: repository(), home, env: { KEY_PEM: String(key) } })
    const [{ form } = { form: new URLSearchParams() }] = server.asked
    expect(form.get('scope')).toBe('read')
    const [, claims = ''] = form.get('client_assertion')?.split('.') ?? []
    expect(JSON.parse(Buffer.from(claims, 'base64url').toString())).toMatchObject({ sub: 'ci', aud: server.origin })
  })

  test('tokens are in files that only the user can read, and that commands don’t see', async () => {
    const server = await startOAuthServer()
    const home = homeWith(server, bySecret)
    await run(home)
    const [file = ''] = tokensOf(home)
    expect([statSync(file).mode & 0o777, readFileSync(file, 'utf8')]).toEqual([
      0o600,
      expect.not.stringContaining(env.GUARDED_SECRET),
    ])
    const [token = ''] = server.valid
    expect(readFileSync(file, 'utf8')).toContain(token)
    const seen = await run(home, `cat ${file}; ls ${join(file, '..')}; env`)
    expect(JSON.stringify([seen.events, seen.requests])).not.toContain(token)
    expect(JSON.stringify(seen.requests)).not.toContain(env.GUARDED_SECRET)
  })

  test('neither events, nor the session, nor the model see a token or a secret', async () => {
    const server = await startOAuthServer()
    const home = homeWith(server, bySecret)
    const { stdout, stderr, requests } = await run(home)
    const [token = ''] = server.valid
    const stored = readdirSync(join(home, '.local/state/portcullis/sessions'), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
    for (const text of [stdout, stderr, JSON.stringify(requests), ...stored]) expect(text).not.toContain(token)
  })

  test('a person signs in, the token is renewed, and when that fails, a message says what to do', async () => {
    const server = await startOAuthServer({ refreshes: true })
    const home = homeWith(server)
    const before = await run(home)
    expect(JSON.stringify(before.events)).toContain('run: agent mcp login guarded')
    await signIn(home)
    expect(server.asked.map(({ form }) => form.get('code'))).toEqual(['the-code'])
    server.valid.clear()
    expect(JSON.stringify((await run(home)).events)).toContain('called with [token of guarded]')
    expect(server.asked.map(({ form }) => form.get('grant_type'))).toEqual(['authorization_code', 'refresh_token'])
    server.valid.clear()
    server.refresh = 'another'
    expect(JSON.stringify((await run(home)).events)).toContain(
      `the authorization server of ${server.url} gave no token (invalid_grant: used already). To sign in again, run: agent mcp login guarded`,
    )
    expect((await agent(['mcp', 'logout', 'guarded'], { cwd: home, home })).stdout).toContain('are forgotten')
    expect(tokensOf(home)).toEqual([])
  })

  test('a browser on another machine: the address that it ends at is pasted', async () => {
    const server = await startOAuthServer()
    const home = homeWith(server)
    const { code, stdout } = await agent(['mcp', 'login', 'guarded', '--no-browser'], {
      ...{ cwd: home, home },
      stdin: 'http://127.0.0.1:1/callback?code=stolen&state=of-another\n',
    })
    expect([code, stdout, server.asked]).toEqual([1, expect.stringContaining('/authorize?'), []])
  })

  test.each([
    ['over a network without TLS', { tokenEndpoint: 'http://auth.example/token' }, "it isn't https"],
    [
      'at a host that a rule forbids',
      { issuer: (origin: string) => origin.replace('127.0.0.1', 'localhost') },
      'must not be asked for a token: ',
    ],
  ])('a secret isn’t sent to an authorization server %s', async (_, behaviour, words) => {
    const server = await startOAuthServer(behaviour)
    const home = homeWith(server, bySecret, {
      '.config/portcullis/rules/no.rules':
        'network_rule(host = "localhost", protocol = "http", decision = "forbidden")\n',
    })
    expect(JSON.stringify((await run(home)).events)).toContain(words)
    expect(server.asked).toEqual([])
  })

  test('a request for a token that is sent elsewhere isn’t made there, wherever that is', async () => {
    const thief = await startOAuthServer()
    for (const location of [`${thief.origin}/token`, 'http://auth.example/token', '/register']) {
      const server = await startOAuthServer({ redirects: { '/token': location } })
      expect(JSON.stringify((await run(homeWith(server, bySecret))).events)).toContain('sends the request elsewhere')
      expect(thief.asked).toEqual([])
    }
  })

  test('a description of an authorization server may be elsewhere, but not at a host that a rule forbids, or nowhere', async () => {
    const wellKnown = '/.well-known/oauth-authorization-server'
    const redirects: Record<string, string> = { [wellKnown]: '/moved' }
    const server = await startOAuthServer({ redirects })
    redirects['/moved'] = server.origin.replace('127.0.0.1', 'localhost') + wellKnown
    const rule = 'network_rule(host = "localhost", protocol = "http", decision = "forbidden")\n'
    const home = homeWith(server, bySecret, { '.config/portcullis/rules/no.rules': rule })
    expect(JSON.stringify((await run(home)).events)).toContain('must not be asked for a token: ')
    redirects['/moved'] = wellKnown
    expect(JSON.stringify((await run(home)).events)).toContain('sends the request elsewhere')
    expect(server.asked).toEqual([])
  })

  test('the headers for a server, and a token for it, go nowhere else', async () => {
    const server = await startOAuthServer()
    const home = homeWith(server, `${bySecret}http_headers = { "X-Team" = "core-key" }\n`)
    expect((await run(home)).code).toBe(0)
    expect(server.asked.map(({ headers }) => headers)).toEqual([expect.not.objectContaining({ 'x-team': 'core-key' })])
    const another = await startOAuthServer()
    const config = readFileSync(join(home, '.config/portcullis/config.toml'), 'utf8').replace(server.url, another.url)
    writeFileSync(join(home, '.config/portcullis/config.toml'), config)
    await run(home)
    expect(another.asked.map(({ form }) => form.get('grant_type'))).toEqual(['client_credentials'])
  })

  test('a secret that one authorization server has accepted isn’t sent to the next one that the server names', async () => {
    let issuer = ''
    const thief = await startOAuthServer()
    const server = await startOAuthServer({ issuer: (origin) => (issuer === '' ? origin : issuer) })
    const home = homeWith(server, bySecret)
    await run(home)
    issuer = thief.origin
    server.valid.clear()
    expect(JSON.stringify((await run(home)).events)).toContain(`is bound to authorization server ${server.origin}`)
    expect(thief.asked).toEqual([])
  })

  test('a refusal of the client names the server, and what to check', async () => {
    const server = await startOAuthServer({ refuses: 'unknown client' })
    const { events } = await run(homeWith(server, bySecret))
    expect(JSON.stringify(events)).toContain(
      `the authorization server of ${server.url} gave no token (invalid_client: unknown client). Check oauth in `,
    )
  })
})

/** Signs in, with `fetch` as the browser. */
async function signIn(home: string): Promise<void> {
  const { spawn } = await import('node:child_process')
  const program = new URL('../../../dist/bin/agent.js', import.meta.url).pathname
  const child = spawn(process.execPath, [program, 'mcp', 'login', 'guarded'], {
    cwd: home,
    env: { PATH: process.env['PATH'], HOME: home },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const text of child.stdout.setEncoding('utf8')) {
    const [url] = /^http:\S+/m.exec(text as string) ?? []
    if (url === undefined) continue
    // Whoever else sends a browser to this port doesn't know the state.
    const back = new URL(new URL(url).searchParams.get('redirect_uri') ?? '')
    back.search = 'code=stolen&state=forged'
    expect((await fetch(back)).status).toBe(404)
    await fetch(url)
  }
}
