import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serversOfConfig, serversOfMcpJson } from '../../../engine/mcp/read-servers.ts'
import { McpServerTable } from '../../../engine/config/server-schema.ts'
import { tempDir } from '../../support/temp-dir.ts'

function fromJson(text: string, env: Readonly<Record<string, string>> = {}) {
  const path = join(tempDir({ '.mcp.json': text }), '.mcp.json')
  return { path, servers: () => serversOfMcpJson(path, env) }
}

test('a .mcp.json is read as Claude Code reads it, variables filled in', () => {
  const { servers } = fromJson(
    JSON.stringify({
      mcpServers: {
        local: { command: '${HOME}/bin/server', args: ['--port', '${PORT:-80}'], env: { TOKEN: '${TOKEN}' } },
        far: { type: 'http', url: 'https://example.com/mcp', headers: { Authorization: 'Bearer ${TOKEN}' } },
        old: { type: 'sse', url: 'https://example.com/sse' },
      },
    }),
    { HOME: '/home/ada', TOKEN: 't' },
  )
  expect(servers().map(({ name, transport }) => [name, transport])).toEqual([
    [
      'local',
      {
        type: 'stdio',
        argv: ['/home/ada/bin/server', '--port', '80'],
        env: { TOKEN: 't' },
        cwd: undefined,
        sandboxed: true,
      },
    ],
    ['far', { type: 'http', url: new URL('https://example.com/mcp'), headers: { Authorization: 'Bearer t' } }],
    ['old', { type: 'sse', url: new URL('https://example.com/sse'), headers: {} }],
  ])
})

test('a .mcp.json that is not there has no servers', () => {
  expect(serversOfMcpJson('/nowhere/.mcp.json', {})).toEqual([])
})

for (const [name, text, says] of [
  ['a variable that is not set', '{"mcpServers": {"a": {"command": "${NOWHERE}"}}}', 'the variable NOWHERE is not set'],
  ['a name that no tool could have', '{"mcpServers": {"a__b": {"command": "x"}}}', "'a__b' can't be a server's name"],
  ['a server without command or URL', '{"mcpServers": {\n"a": {}}}', 'mcpServers.a'],
  ['a URL that is none', '{"mcpServers": {"a": {"url": "nowhere"}}}', "'nowhere' is not a URL"],
  [
    'headers on a WebSocket',
    '{"mcpServers": {"a": {"url": "wss://x.org", "headers": {"a": "b"}}}}',
    'takes no headers',
  ],
] as const) {
  test(`${name} stops the run, with the place`, () => {
    const { path, servers } = fromJson(text)
    expect(servers).toThrow(new RegExp(`^${path}:\\d+:\\d+: `))
    expect(servers).toThrow(says)
  })
}

test("Codex's tables are read with its keys", () => {
  const tables = {
    local: McpServerTable.parse({ command: 'server', env_vars: ['TOKEN'], cwd: 'sub', startup_timeout_sec: 2 }),
    far: McpServerTable.parse({ url: 'https://example.com/mcp', bearer_token_env_var: 'TOKEN', required: true }),
    off: McpServerTable.parse({ command: 'server', enabled: false }),
  }
  const servers = serversOfConfig(tables, 'config.toml', { TOKEN: 't' }, '/work')
  expect(servers).toMatchObject([
    { name: 'local', startupTimeoutMs: 2000, transport: { argv: ['server'], env: { TOKEN: 't' }, cwd: '/work/sub' } },
    { name: 'far', required: true, transport: { headers: { Authorization: 'Bearer t' } } },
  ])
})
