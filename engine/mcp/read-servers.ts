import { isAbsolute, resolve } from 'node:path'
import { UserError } from '../core/user-error.ts'
import type { McpServerTable } from '../config/server-schema.ts'
import type { OAuthSettings } from './oauth/oauth-settings.ts'
import { startupSeconds, type McpServer, type McpTransport } from './server.ts'
import { serverName } from './server-name.ts'

/** Environment variables that may be passed to servers. */
export type Environment = Readonly<NodeJS.ProcessEnv>

/**
 * Reads the servers of `mcp_servers` tables, without the disabled ones.
 *
 * @param source the location that messages name
 * @throws UserError `usage` for a variable that is not set, and for headers of a WebSocket, which can't send any
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
        name: serverName(name),
        origin,
        transport: 'command' in table ? stdioOf(table, env, workspace, origin) : remoteOf(table, env, origin),
        required: table.required ?? false,
        startupTimeoutMs: (table.startup_timeout_sec ?? startupSeconds) * 1000,
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
  const transport = reach(new URL(table.url), table.transport, headers, origin)
  const sendsToken = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization')
  if (!('url' in transport) || transport.type === 'ws' || sendsToken) {
    if (table.oauth === undefined) return transport
    throw new UserError(
      'usage',
      `${origin}.oauth: ${sendsToken ? 'a token is configured already' : "a WebSocket can't send tokens"}`,
    )
  }
  return { ...transport, oauth: oauthOf(table, env, `${origin}.oauth`) }
}

function oauthOf(
  { oauth = {}, scopes = [], oauth_resource: resource }: Extract<McpServerTable, { url: string }>,
  env: Environment,
  origin: string,
): OAuthSettings {
  const { client_secret_env_var: secretName, private_key_env_var: keyName } = oauth
  const valueOf = (name: string | undefined, key: string): string | undefined =>
    name === undefined ? undefined : variable(name, env, `${origin}.${key}`)
  return {
    grant: oauth.grant ?? 'authorization_code',
    clientId: oauth.client_id,
    clientSecret: valueOf(secretName, 'client_secret_env_var'),
    privateKey: valueOf(keyName, 'private_key_env_var'),
    issuer: oauth.issuer,
    clientMetadataUrl: oauth.client_metadata_url,
    callbackPort: oauth.callback_port,
    scopes,
    resource,
  }
}

/**
 * Creates the transport for a URL.
 *
 * @throws UserError `usage` if there are headers but the transport can't send headers
 */
export function reach(
  url: URL,
  type: 'http' | 'sse' | 'ws' | undefined,
  headers: Readonly<Record<string, string>>,
  origin: string,
): McpTransport {
  const kind = type ?? (url.protocol.startsWith('ws') ? 'ws' : 'http')
  if (kind === 'ws' && Object.keys(headers).length > 0) {
    throw new UserError('usage', `${origin}: a WebSocket can't send headers: put the token into the URL, or use http`)
  }
  return { type: kind, url, headers }
}

/**
 * Expands `${NAME}` and `${NAME:-default}` in a text.
 *
 * @throws UserError `usage` for a variable that is not set and has no default
 */
export function expandVariables(text: string, env: Environment, origin: string): string {
  return text.replace(
    /\$\{(\w+)(?::-([^}]*))?\}/g,
    (_, name: string, fallback?: string) => env[name] ?? fallback ?? variable(name, env, origin),
  )
}

function variable(name: string, env: Environment, origin: string): string {
  const value = env[name]
  if (value !== undefined) return value
  throw new UserError('usage', `${origin}: the variable ${name} is not set: set it, or remove the reference to it`)
}
