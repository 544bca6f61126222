import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, test } from 'vitest'
import { agent } from '../../support/agent.ts'
import { needsBubblewrap } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { liar } from '../mcp/servers-support.ts'

const written = `# mine
model = "gpt-5.5" # fast

[mcp_servers.first] # the first
url = "https://first.example/mcp"

[mcp_servers.first.http_headers]
X-Team = "core-team-key"

# about the next
[mcp_servers."odd name"]
command = "/bin/odd"
args = ["""
[mcp_servers.first]
"""]
`

const homeWith = (config: string): string => tempDir({ '.config/portcullis/config.toml': config })
const configOf = (home: string): string => readFileSync(join(home, '.config/portcullis/config.toml'), 'utf8')

async function mcp(home: string, ...args: readonly string[]): Promise<{ code: number | null; said: string }> {
  const { code, stdout, stderr } = await agent(['mcp', ...args], { cwd: tempDir(), home })
  return { code, said: stdout + stderr }
}

describe('agent mcp', () => {
  test('a server is added behind everything that the file says', async () => {
    const home = homeWith(written)
    const { code } = await mcp(
      home,
      'add',
      'docs',
      '--url',
      'https://docs.example/mcp',
      '--bearer-token-env-var',
      'DOCS',
    )
    expect(code).toBe(0)
    expect(configOf(home)).toBe(
      `${written}\n[mcp_servers.docs]\nurl = "https://docs.example/mcp"\nbearer_token_env_var = "DOCS"\n`,
    )
  })

  test.each([
    [
      ['tools', '--env', 'LEVEL=2', '--', 'npx', '-y', 'a-server', '.'],
      '[mcp_servers.tools]\ncommand = "npx"\nargs = [ "-y", "a-server", "." ]\n\n[mcp_servers.tools.env]\nLEVEL = "2"\n',
    ],
    [
      ['-t', 'http', 'sentry', 'https://mcp.sentry.example/mcp'],
      '[mcp_servers.sentry]\nurl = "https://mcp.sentry.example/mcp"\n',
    ],
    [
      ['-t', 'sse', '-s', 'user', 'old', 'https://old.example/sse', '-H', 'X-Team: core'],
      '[mcp_servers.old]\nurl = "https://old.example/sse"\ntransport = "sse"\n\n[mcp_servers.old.http_headers]\nX-Team = "core"\n',
    ],
    [
      [
        'crm',
        '--url',
        'https://crm.example',
        '--client-credentials',
        '--client-id',
        'ci',
        '--client-secret-env-var',
        'S',
        '--scopes',
        'a,b',
      ],
      '[mcp_servers.crm]\nurl = "https://crm.example"\nscopes = [ "a", "b" ]\n\n[mcp_servers.crm.oauth]\ngrant = "client_credentials"\nclient_id = "ci"\nclient_secret_env_var = "S"\n',
    ],
  ])('add %j', async (args, table) => {
    const home = tempDir()
    expect(await mcp(home, 'add', ...args)).toMatchObject({ code: 0 })
    expect(configOf(home)).toBe(table)
  })

  test.each([
    [
      ['first', '--url', 'https://x.example'],
      'config.toml:4: there is a server first already. To replace it, first run: agent mcp remove first',
    ],
    [['none'], 'Name the server: --url URL, or after -- the command that starts it'],
    [['two', '--url', 'https://x.example', '--', 'npx'], 'leave out one of the two'],
    [['plain', 'https://x.example'], 'give it as --url https://x.example'],
    [['x', '--url', 'ftp://x.example'], 'expected a URL that begins with http, https, ws or wss'],
    [['x', '--url', 'https://x.example', '--client-credentials'], 'client_credentials needs a client_id'],
    [['x', '--scope', 'project', '--url', 'https://x.example'], 'Allowed choices are user'],
    [['x', '--header', 'A: b', '--', 'npx'], 'A server that is a command has no --header'],
  ])('add %j is refused', async (args, words) => {
    const home = homeWith(written)
    expect(await mcp(home, 'add', ...args)).toEqual({ code: 2, said: expect.stringContaining(words) })
    expect(configOf(home)).toBe(written)
  })

  test('a server is removed with its tables, and nothing else', async () => {
    const home = homeWith(written)
    expect(await mcp(home, 'remove', 'first')).toMatchObject({ code: 0 })
    expect(configOf(home)).toBe(written.replace(/\[mcp_servers\.first\] #[^#]*core-team-key"\n\n/, ''))
    expect(await mcp(home, 'remove', 'odd name')).toMatchObject({ code: 0 })
    expect(configOf(home)).toContain('model = "gpt-5.5" # fast')
    expect(await mcp(home, 'remove', 'first')).toEqual({
      code: 2,
      said: expect.stringContaining('has no server first'),
    })
  })

  test('a server that isn’t defined by tables of its own stays', async () => {
    const config = 'mcp_servers = { one = { command = "/bin/one" } }\n'
    const home = homeWith(config)
    expect(await mcp(home, 'remove', 'one')).toEqual({ code: 2, said: expect.stringContaining('remove it yourself') })
    expect(configOf(home)).toBe(config)
  })

  test('list and get show where each is configured, and no secret', async () => {
    const home = homeWith(written)
    const { said } = await mcp(home, 'list')
    expect(said).toBe('first  https://first.example/mcp  (not signed in)\nodd_name  /bin/odd\n')
    const got = await mcp(home, 'get', 'first', '--json')
    expect(JSON.parse(got.said)).toEqual({
      ...{ name: 'first', enabled: true, auth_status: 'not_logged_in' },
      origin: join(home, '.config/portcullis/config.toml'),
      transport: { url: 'https://first.example/mcp', http_headers: { 'X-Team': '(hidden)' } },
    })
    expect(await mcp(home, 'get', 'third')).toEqual({
      code: 2,
      said: expect.stringContaining('There is no MCP server third here. Configured: first, odd_name.'),
    })
  })
})

describe.skipIf(needsBubblewrap())('agent mcp test', () => {
  test('starts servers as a run does, and says which are available', async () => {
    const source = liar(`
      if (method === 'tools/list') return send({ id, result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } })
      send({ id, result: {} })`)
    const home = tempDir()
    await mcp(home, 'add', 'eye', '--', process.execPath, '--input-type=module', '-e', source)
    await mcp(home, 'add', 'gone', '--', '/nowhere/server')
    const cwd = repository()
    const all = await agent(['mcp', 'test'], { cwd, home })
    expect([all.code, all.stdout]).toEqual([
      1,
      expect.stringMatching(/^eye: available, 1 tools\n {2}mcp__eye__look\ngone: not available: .*nowhere/),
    ])
    const one = await agent(['mcp', 'test', 'eye', '--json'], { cwd, home })
    expect([one.code, JSON.parse(one.stdout)]).toEqual([0, { name: 'eye', available: true, tools: ['mcp__eye__look'] }])
  })
})
