import { join } from 'node:path'
import { expect, test } from 'vitest'
import { serversOfMcpJson } from '../../../engine/mcp/json-servers.ts'
import { serversOfConfig } from '../../../engine/mcp/read-servers.ts'
import { serverName } from '../../../engine/mcp/server-name.ts'
import { McpServerTable } from '../../../engine/config/server-schema.ts'
import { tempDir } from '../../support/temp-dir.ts'

function fromJson(text: string, env: Readonly<Record<string, string>> = {}) {
  const path = join(tempDir({ '.mcp.json': text }), '.mcp.json')
  return { path, ...serversOfMcpJson(path, { env }) }
}

test('a .mcp.json is read like in Claude Code, with variables filled in', () => {
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
  expect(servers.map(({ name, transport }) => [name, transport])).toEqual([
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

test('a missing .mcp.json has no servers', () => {
  expect(serversOfMcpJson('/nowhere/.mcp.json', { env: {} })).toEqual({ servers: [], faults: [] })
})

test('a .mcp.json may list its servers at the top level, like those of plugins', () => {
  const { servers, faults } = fromJson(
    '{"docs": {"command": "docs"}, "far": {"url": "https://x.org"}, "version": 2, "x": {}}',
  )
  expect([servers.map(({ name }) => name), faults]).toEqual([['docs', 'far'], []])
})

for (const [name, wrong, says] of [
  ['a variable that is not set', '{"command": "${NOWHERE}"}', 'the variable NOWHERE is not set'],
  ['neither command nor URL', '{}', 'expected an object with a command or a url'],
  ['words that are none', '{"command": "x", "args": [1]}', "'args.0': "],
  ['a URL that is none', '{"url": "nowhere"}', "'nowhere' is not a URL"],
  ['headers on a WebSocket', '{"url": "wss://x.org", "headers": {"a": "b"}}', "can't send headers"],
  ['no object', '5', 'expected an object'],
] as const) {
  test(`a server with ${name} is left out, with its place, and the others stay`, () => {
    const { path, servers, faults } = fromJson(`{"mcpServers": {"a": {"command": "x"},\n"bad": ${wrong}}}`)
    expect(servers.map((server) => server.name)).toEqual(['a'])
    expect(faults).toEqual([expect.stringContaining(says)])
    expect(faults[0]).toMatch(new RegExp(`^${path}:2:8: .*The server "bad" is left out\\.$`))
  })
}

test('a broken .mcp.json has no servers, and its location is reported', () => {
  const { path, servers, faults } = fromJson('{"mcpServers":\n}')
  expect([servers, faults]).toEqual([[], [expect.stringMatching(new RegExp(`^${path}:2:2: not valid JSON`))]])
})

test('keys of other programs are named and have no effect', () => {
  const { servers, faults } = fromJson('{"mcpServers": {"a": {"command": "x", "disabled": false, "oauth": {}}}}')
  expect([servers.length, faults]).toEqual([
    1,
    [expect.stringContaining('has keys that have no effect here: disabled, oauth')],
  ])
})

test.each([
  ['Postgres MCP - Production', 'Postgres_MCP_-_Production'],
  ['@praha/byethrow', 'praha_byethrow'],
  ['a__b', 'a_b'],
  ['plugin:house:api', 'plugin_house_api'],
  ['文档', 'server'],
  ['-x', 'server_x'],
  ['docs-2', 'docs-2'],
])('a server’s name is made one that tools can have: %s', (given, name) => {
  expect(serverName(given)).toBe(name)
  const { servers, faults } = fromJson(JSON.stringify({ mcpServers: { [given]: { command: 'x' } } }))
  expect(servers.map((server) => server.name)).toEqual([name])
  expect(faults).toHaveLength(given === name ? 0 : 1)
  const table = { [given]: McpServerTable.parse({ command: 'x' }) }
  expect(serversOfConfig(table, 'config.toml', {}, '/work')).toMatchObject([{ name }])
})

test("Codex's tables are read with its keys", () => {
  const tables = {
    local: McpServerTable.parse({ command: 'server', env_vars: ['TOKEN'], cwd: 'sub', startup_timeout_sec: 2 }),
    far: McpServerTable.parse({ url: 'https://example.com/mcp', bearer_token_env_var: 'TOKEN', required: true }),
    off: McpServerTable.parse({ command: 'server', enabled: false }),
  }
  const servers = serversOfConfig(tables, 'config.toml', { TOKEN: 't' }, '/work')
  expect(servers).toMatchObject([
    { name: 'local', startupTimeoutMs: 2000, transport: { argv: ['server'], env: { TOKEN: 't' }, cwd: '/work/sub' } },
    // `npx` may have to download a server first.
    { name: 'far', required: true, startupTimeoutMs: 30_000, transport: { headers: { Authorization: 'Bearer t' } } },
  ])
})
