import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { checkJson, readJson } from '../core/read-json.ts'
import { UserError } from '../core/user-error.ts'
import { McpJson, type McpJsonServer, type McpServerTable } from '../config/server-schema.ts'
import type { McpServer, McpTransport } from './server.ts'

type Environment = Readonly<NodeJS.ProcessEnv>

/**
 * The servers of `mcp_servers` tables. Switched-off ones are left out.
 *
 * @param source what messages name as their place
 * @throws UserError `usage` for a name that can't be part of a tool's, or a variable that is not set
 */
export function serversOfConfig(
  tables: Readonly<Record<string, McpServerTable>>,
  source: string,
  env: Environment,
  workspace: string,
): readonly McpServer[] {
  return Object.entries(tables)
    .filter(([, table]) => table.enabled !== false)
    .map(([name, table]) => {
      const origin = `${source}: mcp_servers.${name}`
      return {
        name: checkedName(name, origin),
        origin,
        transport: 'command' in table ? stdioOf(table, env, workspace, origin) : remoteOf(table, env, origin),
        required: table.required ?? false,
        startupTimeoutMs: (table.startup_timeout_sec ?? 10) * 1000,
        toolTimeoutMs: (table.tool_timeout_sec ?? 60) * 1000,
        enabledTools: table.enabled_tools,
        disabledTools: table.disabled_tools ?? [],
        trusted: table.trusted ?? false,
        alwaysLoad: table.always_load ?? false,
      }
    })
}

function stdioOf(
  table: Extract<McpServerTable, { command: string }>,
  env: Environment,
  workspace: string,
  origin: string,
): McpTransport {
  const passed = (table.env_vars ?? []).map((name) => [name, variable(name, env, `${origin}.env_vars`)] as const)
  return {
    type: 'stdio',
    argv: [table.command, ...(table.args ?? [])],
    env: { ...Object.fromEntries(passed), ...table.env },
    cwd: table.cwd === undefined ? undefined : isAbsolute(table.cwd) ? table.cwd : resolve(workspace, table.cwd),
    sandboxed: table.sandbox ?? true,
  }
}

function remoteOf(table: Extract<McpServerTable, { url: string }>, env: Environment, origin: string): McpTransport {
  const token = table.bearer_token_env_var
  const named = Object.entries(table.env_http_headers ?? {})
  const headers = {
    ...table.http_headers,
    ...Object.fromEntries(named.map(([header, name]) => [header, variable(name, env, `${origin}.env_http_headers`)])),
    ...(token === undefined
      ? {}
      : { Authorization: `Bearer ${variable(token, env, `${origin}.bearer_token_env_var`)}` }),
  }
  return reach(new URL(table.url), table.transport, headers, origin)
}

/**
 * The servers of a `.mcp.json`; none where there is no such file. They always run in the sandbox, and nothing they say of their
 * tools is believed.
 *
 * @throws UserError `usage` with `file:line:column` for any fault in the file
 */
export function serversOfMcpJson(path: string, env: Environment): readonly McpServer[] {
  if (!existsSync(path)) return []
  const file = readJson(path)
  const { mcpServers = {} } = checkJson(McpJson, file, file.value, [])
  return Object.entries(mcpServers).map(([name, server]) => {
    const origin = file.place(['mcpServers', name])
    return {
      name: checkedName(name, origin),
      origin,
      transport: transportOf(server, env, origin),
      required: false,
      startupTimeoutMs: 10_000,
      toolTimeoutMs: server.timeout ?? 60_000,
      enabledTools: undefined,
      disabledTools: [],
      trusted: false,
      alwaysLoad: server.alwaysLoad ?? false,
    }
  })
}

function transportOf(server: McpJsonServer, env: Environment, origin: string): McpTransport {
  const fill = (text: string): string => expand(text, env, origin)
  const fillAll = (values: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(values).map(([key, value]) => [key, fill(value)]))
  if ('command' in server) {
    const argv = [fill(server.command), ...(server.args ?? []).map(fill)] as const
    return { type: 'stdio', argv, env: fillAll(server.env), cwd: undefined, sandboxed: true }
  }
  const url = fill(server.url)
  if (!URL.canParse(url))
    throw new UserError('usage', `${origin}: '${url}' is not a URL; expected one like https://example.com/mcp`)
  return reach(new URL(url), server.type === 'streamable-http' ? 'http' : server.type, fillAll(server.headers), origin)
}

function reach(
  url: URL,
  type: 'http' | 'sse' | 'ws' | undefined,
  headers: Readonly<Record<string, string>>,
  origin: string,
): McpTransport {
  const kind = type ?? (url.protocol.startsWith('ws') ? 'ws' : 'http')
  if (kind === 'ws' && Object.keys(headers).length > 0) {
    throw new UserError('usage', `${origin}: a WebSocket takes no headers: put the token into the URL, or use http`)
  }
  return { type: kind, url, headers }
}

function expand(text: string, env: Environment, origin: string): string {
  return text.replace(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, fallback?: string) => env[name] ?? fallback ?? variable(name, env, origin),
  )
}

function variable(name: string, env: Environment, origin: string): string {
  const value = env[name]
  if (value !== undefined) return value
  throw new UserError('usage', `${origin}: the variable ${name} is not set: set it, or take it out`)
}

/** A server's name is a part of its tools' names, which every provider accepts only so. */
function checkedName(name: string, origin: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name) && !name.includes('__')) return name
  throw new UserError(
    'usage',
    `${origin}: '${name}' can't be a server's name: expected letters, digits, "-" and single "_"`,
  )
}
