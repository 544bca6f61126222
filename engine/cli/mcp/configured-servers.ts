import process from 'node:process'
import { enabledPlugins } from '../../app/enabled-plugins.ts'
import { configuredServers } from '../../app/mcp-servers.ts'
import { findRepository, findWorkspace } from '../../app/workspace.ts'
import type { Config } from '../../config/load-config.ts'
import type { AppPaths } from '../../core/app-paths.ts'
import { findAppPaths, findHome } from '../../core/app-paths.ts'
import { UserError } from '../../core/user-error.ts'
import type { JsonServers } from '../../mcp/json-servers.ts'
import type { McpServer } from '../../mcp/server.ts'
import { serverName } from '../../mcp/server-name.ts'
import { loadRunConfig } from '../run-config.ts'
import type { NamedServerOptions } from './mcp-options.ts'

/** The configuration of a run here, and how to read its servers. */
type Here = {
  readonly places: AppPaths
  readonly config: Config
  /** @throws UserError `usage` for an error in the configuration of one of them */
  readonly servers: (config: Config) => JsonServers
}

/** Reads the configuration of a run here. @throws UserError `usage` for an error in it */
export function configurationHere(options: NamedServerOptions): Here {
  const places = findAppPaths(process.env)
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const config = loadRunConfig(options, workspace, places)
  const project = { root: findRepository(workspace) ?? workspace, workspace }
  const { plugins } = enabledPlugins(config)
  const servers = (of: Config): JsonServers =>
    configuredServers(of, { project, home: findHome(process.env), env: process.env }, plugins)
  return { places, config, servers }
}

/** The server of this name. @throws UserError `usage` if there is none */
export function serverNamed(
  name: string,
  options: NamedServerOptions,
): { readonly places: AppPaths; readonly server: McpServer } {
  const { places, config, servers } = configurationHere(options)
  const known = servers(config).servers
  const server = known.find((one) => one.name === serverName(name))
  if (server !== undefined) return { places, server }
  throw new UserError('usage', noServer(name, known))
}

/** A sentence about a server that isn't configured. */
export function noServer(name: string, known: readonly { readonly name: string }[]): string {
  const names = known.map((one) => one.name).join(', ')
  return `There is no MCP server ${name} here. ${names === '' ? 'None is configured' : `Configured: ${names}`}. To add it: agent mcp add`
}
