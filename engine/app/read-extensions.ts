import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { ignoredWhole, type Ignored } from '../config/ignored.ts'
import type { Config } from '../config/load-config.ts'
import type { Project } from '../config/read-project.ts'
import { loadHooks, withCallbacks, type HookSet } from '../hooks/load-hooks.ts'
import { together, type JsonServers } from '../mcp/json-servers.ts'
import type { McpServer } from '../mcp/server.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import type { AgentDefinition, Definitions } from '../skills/definition.ts'
import { findDefinitions } from '../skills/find-definitions.ts'
import { definitionFolders } from './definition-folders.ts'
import { hookFiles } from './hook-files.ts'
import { configuredServers, firstOfEachName } from './mcp-servers.ts'
import { restrictTools } from './restrict-tools.ts'
import type { RunClient } from './run-client.ts'
import { enabledPlugins, type Plugin } from './enabled-plugins.ts'

/** The extensions that users and repositories add to a run. They have been read and checked, but no code in them has run yet. */
export type Extensions = {
  readonly hooks: HookSet
  readonly servers: readonly McpServer[]
  readonly definitions: Definitions
  readonly plugins: readonly Plugin[]
  /**
   * Problems with servers and plugins that are defined in the configuration files of other programs, one sentence each. The run continues without these servers
   * and plugins.
   */
  readonly faults: readonly string[]
  /** The repository's files that are ignored. */
  readonly ignored: readonly Ignored[]
}

/** Where extensions are read from. */
type ExtensionSources = {
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  readonly config: Config
  readonly environment: Readonly<NodeJS.ProcessEnv>
  /** What the program that drives the run adds. */
  readonly client?: RunClient | undefined
}

const none: JsonServers = { servers: [], faults: [] }

/** Files that contain only extensions and are used in trusted repositories only. */
const trustedOnly: readonly string[] = ['.mcp.json', '.portcullis/hooks.json']

/**
 * Reads hooks, MCP servers, skills, commands and agents.
 *
 * @throws UserError `usage` for an error in a hook file, or in this program's own configuration of plugins and servers. Other files with errors are
 * left out, and reported in the result.
 */
export async function readExtensions(sources: ExtensionSources): Promise<Extensions> {
  const { places, home, project, config, environment, client } = sources
  const { trusted, isolated } = config
  const { plugins, faults } = enabledPlugins(config)
  const configured =
    client?.onlyServers === true ? none : configuredServers(config, { project, home, env: environment }, plugins)
  const { servers, faults: ofServers } = firstOfEachName(together([client?.servers ?? none, configured]))
  const where = { places, home, project, trusted, isolated }
  return {
    hooks: withCallbacks(loadHooks([...hookFiles({ ...where, plugins }), ...[client?.settings ?? []].flat()]), [
      ...(client?.tools === undefined ? [] : restrictTools(client.tools)),
      ...(client?.hooks ?? []),
    ]),
    servers,
    plugins,
    faults: [...faults, ...ofServers],
    definitions: withAgents(await findDefinitions(definitionFolders(where, plugins)), client?.agents ?? []),
    ignored: trusted || isolated ? [] : broughtInVain(project),
  }
}

/** Puts the agents of the program that drives the run before those of files. */
function withAgents(definitions: Definitions, agents: readonly AgentDefinition[]): Definitions {
  const others = definitions.agents.filter(({ name }) => agents.every((one) => one.name !== name))
  return { ...definitions, agents: [...agents, ...others] }
}

function broughtInVain(project: Project): readonly Ignored[] {
  return directoriesBetween(project.root, project.workspace)
    .flatMap((directory) => trustedOnly.map((name) => join(directory, name)))
    .filter((path) => existsSync(path))
    .map((path) => ignoredWhole(path, 'this repository is not trusted'))
}
