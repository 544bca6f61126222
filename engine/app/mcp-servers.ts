import { join } from 'node:path'
import type { Config } from '../config/load-config.ts'
import { keyOf } from '../config/leaves.ts'
import type { Origin } from '../config/merge-layers.ts'
import type { Project } from '../config/read-project.ts'
import { UserError } from '../core/user-error.ts'
import { readJsonFile, serversIn, serversOfMcpJson, together, type JsonServers } from '../mcp/json-servers.ts'
import { serversOfConfig } from '../mcp/read-servers.ts'
import type { McpServer } from '../mcp/server.ts'
import { describeName } from '../mcp/server-name.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import { pluginServers } from './plugin-servers.ts'
import type { Plugin } from './enabled-plugins.ts'

type Environment = Readonly<NodeJS.ProcessEnv>

/** The maximum size, in bytes, of a Claude Code file that is read. The limit is high because Claude Code's main file also contains histories. */
const largestClaudeFile = 16 * 1024 * 1024

/**
 * The MCP servers of a run, in order: the user's, those that the user's `import` includes, those of plugins, then those of a trusted repository, from its
 * configuration and its `.mcp.json`. If several have the same name, the first is used. Servers that a repository, a plugin or another program
 * configures run in the sandbox if they are started as programs, and what they say about their own tools isn't trusted.
 *
 * @param home the directory in which Claude Code keeps the user's servers
 * @throws UserError `usage` for any error in this program's own configuration
 */
export function configuredServers(
  config: Config,
  { project, home, env }: { readonly project: Project; readonly home: string; readonly env: Environment },
  plugins: readonly Plugin[],
): JsonServers {
  const { origins, settings, trusted, isolated } = config
  const given: Environment = { ...env, CLAUDE_PROJECT_DIR: project.root }
  const tables = Object.entries(settings.mcp_servers ?? {}).map(([name, table]) => {
    const layer = origins.get(keyOf(['mcp_servers', name]))?.layer
    return { kind: layer?.kind, found: fromTable(name, table, layer, given, project) }
  })
  const byKind = (isProject: boolean): readonly JsonServers[] =>
    tables.filter(({ kind }) => (kind === 'project') === isProject).map(({ found }) => found)
  const directories = trusted ? directoriesBetween(project.root, project.workspace) : []
  return firstOfEachName(
    together([
      ...byKind(false),
      ...(settings.import?.includes('claude') === true && !isolated ? [claudeServers(home, project, given)] : []),
      ...plugins.map((plugin) => pluginServers(plugin, given)),
      ...byKind(true),
      ...directories.map((directory) =>
        serversOfMcpJson(join(directory, '.mcp.json'), { env: given, within: project.root }),
      ),
    ]),
  )
}

/** Leaves out each server whose name an earlier one has. */
export function firstOfEachName(all: JsonServers): JsonServers {
  const byName = new Map<string, McpServer>()
  const faults = [...all.faults]
  for (const server of all.servers) {
    const first = byName.get(server.name)
    if (first === undefined) byName.set(server.name, server)
    else
      faults.push(
        `${server.origin}: the server ${server.name} is left out: ${first.origin} has a server with the same name.`,
      )
  }
  return { servers: [...byName.values()], faults }
}

function fromTable(
  name: string,
  table: NonNullable<Config['settings']['mcp_servers']>[string],
  layer: Origin['layer'] | undefined,
  env: Environment,
  project: Project,
): JsonServers {
  const source = layer?.name ?? 'configuration'
  const isForeign = layer?.kind === 'imported'
  try {
    const servers = serversOfConfig({ [name]: table }, source, env, project.workspace)
    const faults = servers.flatMap(({ origin }) => describeName(name, origin))
    const shown = layer?.kind === 'project' ? servers : servers.map(asOwn)
    return { servers: layer?.kind === 'project' || isForeign ? shown.map(confined) : shown, faults }
  } catch (error) {
    if (!isForeign || !(error instanceof UserError)) throw error
    return { servers: [], faults: [`${error.message}. The server ${name} is left out.`] }
  }
}

/** The servers that are configured in Claude Code for this repository or for all repositories (https://code.claude.com/docs/en/mcp). */
function claudeServers(home: string, { root, workspace }: Project, env: Environment): JsonServers {
  const path = join(home, '.claude.json')
  const file = readJsonFile(path, { maxBytes: largestClaudeFile })
  if (file === undefined) return { servers: [], faults: [] }
  if ('reason' in file) return { servers: [], faults: [file.reason] }
  const places = [...new Set([workspace, root])].map((directory) => ['projects', directory, 'mcpServers'])
  const found = together([...places, ['mcpServers']].map((at) => serversIn(file, at, { env })))
  return { ...found, servers: found.servers.map(asOwn) }
}

function asOwn(server: McpServer): McpServer {
  return { ...server, isOwn: true }
}

function confined(server: McpServer): McpServer {
  const { transport } = server
  return {
    ...server,
    trusted: false,
    transport: transport.type === 'stdio' ? { ...transport, sandboxed: true } : transport,
  }
}
