import { hideSecrets } from '../../config/hide-secrets.ts'
import { keyOf } from '../../config/leaves.ts'
import type { McpServerTable } from '../../config/server-schema.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { TokenStore } from '../../mcp/oauth/token-store.ts'
import type { McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'
import { tokensIn } from '../../mcp/tokens-in.ts'
import { print, printJson, tell } from '../print.ts'
import { configurationHere, noServer } from './configured-servers.ts'
import type { NamedServerOptions } from './mcp-options.ts'

/** How a server learns who we are, in Codex's words. */
type AuthStatus = 'unsupported' | 'not_logged_in' | 'bearer_token' | 'o_auth'

type Listed = {
  readonly name: string
  readonly origin: string
  readonly enabled: boolean
  readonly transport: unknown
  readonly auth_status: AuthStatus
}

/**
 * `agent mcp list` and `agent mcp get`. Nothing is started. Returns the exit code.
 *
 * @param name the only server to show; undefined: all
 * @throws UserError `usage` for an error in the configuration, and if there is no server of this name
 */
export function listServers(options: NamedServerOptions, name?: string): number {
  const { places, config, servers } = configurationHere(options)
  const { mcp_servers: tables = {}, ...settings } = config.settings
  const own = Object.entries(tables).map(([key, table]): Listed => {
    const origin = config.origins.get(keyOf(['mcp_servers', key]))?.layer.name ?? 'configuration'
    const shown = { origin, enabled: table.enabled ?? true, transport: hideSecrets([], table) }
    return { name: serverName(key), ...shown, auth_status: statusOf(key, table, tokensIn(places)) }
  })
  const { servers: others, faults } = servers({ ...config, settings })
  const all = [...own, ...others.filter((one) => own.every((other) => other.name !== one.name)).map(listed)]
  const wanted = name === undefined ? all : all.filter((one) => one.name === serverName(name))
  if (name !== undefined && wanted.length === 0) throw new UserError('usage', noServer(name, all))
  for (const fault of faults) tell(`warning: ${fault}`)
  if (options.json === true) printJson(name === undefined ? wanted : wanted[0])
  else if (wanted.length === 0) print('No MCP server is configured. To add one: agent mcp add NAME --url URL')
  else print(...(name === undefined ? wanted.map(inOneLine) : wanted.flatMap(inLines)))
  return exitCodes.done
}

function statusOf(key: string, table: McpServerTable, folder: string): AuthStatus {
  if ('command' in table) return 'unsupported'
  if (table.bearer_token_env_var !== undefined) return 'bearer_token'
  if (/^wss?:/.test(table.url)) return 'unsupported'
  const client = { grant: table.oauth?.grant ?? ('authorization_code' as const), clientId: table.oauth?.client_id }
  if (client.grant === 'client_credentials') return 'o_auth'
  const { tokens } = new TokenStore(folder, serverName(key), new URL(table.url), client).read()
  return tokens === undefined ? 'not_logged_in' : 'o_auth'
}

function listed({ name, origin, transport }: McpServer): Listed {
  const shown =
    'argv' in transport
      ? { command: transport.argv[0], args: transport.argv.slice(1) }
      : { url: 'url' in transport ? transport.url.href : '' }
  return { name, origin, enabled: true, transport: hideSecrets([], shown), auth_status: 'unsupported' }
}

function inOneLine({ name, enabled, transport, auth_status: status }: Listed): string {
  const { command, url } = transport as { readonly command?: string; readonly url?: string }
  const notes = [enabled ? [] : ['disabled'], status === 'unsupported' ? [] : [inWords[status]]].flat()
  return `${name}  ${url ?? command ?? ''}${notes.length === 0 ? '' : `  (${notes.join(', ')})`}`
}

const inWords: Readonly<Record<Exclude<AuthStatus, 'unsupported'>, string>> = {
  not_logged_in: 'not signed in',
  bearer_token: 'token from a variable',
  o_auth: 'OAuth',
}

function inLines({ name, origin, enabled, transport, auth_status: status }: Listed): readonly string[] {
  const fields = Object.entries(transport as object).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`)
  const signedIn = status === 'unsupported' ? [] : [`  auth: ${inWords[status]}`]
  return [name, `  configured in: ${origin}`, `  enabled: ${enabled}`, ...fields, ...signedIn]
}
