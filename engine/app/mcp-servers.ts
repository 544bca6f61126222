import { join } from 'node:path'
import type { Config } from '../config/load.ts'
import { keyOf } from '../config/leaves.ts'
import type { Project } from '../config/read-project.ts'
import { serversOfConfig, serversOfMcpJson } from '../mcp/read-servers.ts'
import type { McpServer } from '../mcp/server.ts'
import { directoriesBetween } from '../core/paths.ts'
import { pluginFiles, type Plugin } from './plugins.ts'

/**
 * The MCP servers of a run: those of the configuration, then those that a trusted repository's `.mcp.json` names, then those of plugins; the first of a name
 * stands. What a repository brings runs in the sandbox whatever it says, and is not believed.
 *
 * @throws UserError `usage` for anything wrong in any of them
 */
export function configuredServers(
  { settings, origins, trusted }: Config,
  project: Project,
  plugins: readonly Plugin[],
  env: Readonly<NodeJS.ProcessEnv>,
): readonly McpServer[] {
  const configured = Object.entries(settings.mcp_servers ?? {}).flatMap(([name, table]) => {
    const layer = origins.get(keyOf(['mcp_servers', name]))?.layer
    const servers = serversOfConfig({ [name]: table }, layer?.name ?? 'configuration', env, project.workspace)
    return layer?.kind === 'project' ? servers.map(confined) : servers
  })
  const directories = trusted ? directoriesBetween(project.root, project.workspace) : []
  const brought = directories.flatMap((directory) => serversOfMcpJson(join(directory, '.mcp.json'), env))
  const plugged = plugins.flatMap((plugin) =>
    serversOfMcpJson(pluginFiles(plugin).servers, { ...env, CLAUDE_PLUGIN_ROOT: plugin.root }),
  )
  const byName = new Map<string, McpServer>()
  for (const server of [...configured, ...brought, ...plugged])
    if (!byName.has(server.name)) byName.set(server.name, server)
  return [...byName.values()]
}

function confined(server: McpServer): McpServer {
  const { transport } = server
  return {
    ...server,
    trusted: false,
    transport: transport.type === 'stdio' ? { ...transport, sandboxed: true } : transport,
  }
}
