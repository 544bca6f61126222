import process from 'node:process'
import { addUserServer, removeUserServer } from '../../config/user-servers.ts'
import { findAppPaths } from '../../core/app-paths.ts'
import { exitCodes } from '../../core/exit-codes.ts'
import { UserError } from '../../core/user-error.ts'
import { serverName } from '../../mcp/server-name.ts'
import { forgetTokens } from '../../mcp/oauth/token-store.ts'
import { tokensIn } from '../../mcp/tokens-in.ts'
import { print } from '../print.ts'
import type { AddOptions } from './mcp-options.ts'

/**
 * `agent mcp add`: adds a server to the user's configuration. Returns the exit code.
 *
 * @throws UserError `usage` for options that don't belong together, and if the file can't be extended
 */
export function addServer(name: string, target: readonly string[], options: AddOptions): number {
  const isRemote = options.url !== undefined || (options.transport ?? 'stdio') !== 'stdio'
  const table = isRemote ? remoteTable(target, options) : stdioTable(target, options)
  const file = addUserServer(findAppPaths(process.env).config, name, table)
  const called = serverName(name)
  print(`The server ${name} is in ${file}.`)
  print(`Its tools are called mcp__${called}__…, and need a permission such as permissions.allow = ["mcp__${called}"].`)
  return exitCodes.done
}

/** `agent mcp remove`: removes a server from the user's configuration. Returns the exit code. @throws UserError `usage` if that isn't possible */
export function removeServer(name: string): number {
  const places = findAppPaths(process.env)
  const { file, removed } = removeUserServer(places.config, name)
  if (!removed) throw new UserError('usage', `${file} has no server ${name}`)
  forgetTokens(tokensIn(places), serverName(name))
  print(`The server ${name} is no longer in ${file}.`)
  return exitCodes.done
}

type Table = Readonly<Record<string, unknown>>

function stdioTable(argv: readonly string[], options: AddOptions): Table {
  const [command, ...args] = argv
  const { env = [], transport, header, ...others } = options
  const wrong = Object.keys({ ...others, ...(header && { header }) }).filter((key) => key !== 'scope')
  if (command === undefined)
    throw new UserError('usage', 'Name the server: --url URL, or after -- the command that starts it.')
  if (wrong.length > 0)
    throw new UserError('usage', `A server that is a command has no ${wrong.map(optionOf).join(', ')}.`)
  if (transport === undefined && /^(?:https?|wss?):/.test(command))
    throw new UserError('usage', `${command} is a URL: give it as --url ${command}`)
  return { command, ...(args.length === 0 ? {} : { args }), ...(env.length === 0 ? {} : { env: pairs(env, '=') }) }
}

function remoteTable(target: readonly string[], options: AddOptions): Table {
  const { transport, env, header = [], scopes, oauthResource } = options
  const [url = options.url, ...rest] = target
  if (url === undefined) throw new UserError('usage', 'Name the URL of the server: --url URL.')
  if (rest.length > 0 || (options.url !== undefined && target.length > 0))
    throw new UserError('usage', 'A server has a URL or a command: leave out one of the two.')
  if (env !== undefined) throw new UserError('usage', 'Only a server that is a command has --env.')
  const oauth = without({
    grant: options.clientCredentials === true ? 'client_credentials' : undefined,
    client_id: options.clientId,
    client_secret_env_var: options.clientSecretEnvVar,
    private_key_env_var: options.privateKeyEnvVar,
    issuer: options.issuer,
    callback_port: options.callbackPort,
  })
  return without({
    url,
    transport: transport === 'sse' ? transport : undefined,
    bearer_token_env_var: options.bearerTokenEnvVar,
    http_headers: header.length === 0 ? undefined : pairs(header, ':'),
    scopes,
    oauth_resource: oauthResource,
    oauth: Object.keys(oauth).length === 0 ? undefined : oauth,
  })
}

const without = (table: Table): Table =>
  Object.fromEntries(Object.entries(table).filter(([, value]) => value !== undefined))

const optionOf = (key: string): string => `--${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

function pairs(given: readonly string[], separator: string): Table {
  return Object.fromEntries(
    given.map((text) => {
      const at = text.indexOf(separator)
      if (at < 1) throw new UserError('usage', `${JSON.stringify(text)}: expected NAME${separator}VALUE`)
      return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
    }),
  )
}
