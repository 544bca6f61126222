import { join } from 'node:path'
import process from 'node:process'
import { enabledPlugins, pluginFiles, type Plugin } from '../app/enabled-plugins.ts'
import { pluginServers } from '../app/plugin-servers.ts'
import { findWorkspace } from '../app/workspace.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { loadHooks } from '../hooks/load-hooks.ts'
import { findHome, findAppPaths } from '../core/app-paths.ts'
import { findDefinitions } from '../skills/find-definitions.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { loadRunConfig } from './run-config.ts'
import { print, printJson, tell } from './print.ts'

/**
 * `agent plugins`: lists the enabled plugins and what each of them provides.
 *
 * @returns the exit code
 */
export async function pluginsCommand(options: ConfigOptions & { readonly json?: true }): Promise<number> {
  const places = findAppPaths(process.env)
  const workspace = findWorkspace(options.cd ?? process.cwd())
  const { plugins, faults } = enabledPlugins(loadRunConfig(options, workspace, places))
  const found = await Promise.all(plugins.map(described))
  for (const fault of faults) tell(`warning: ${fault}`)
  if (options.json === true) for (const plugin of found) printJson(plugin)
  else if (found.length === 0) {
    const example = ['[plugins.NAME]', `path = "${findHome(process.env)}/plugins/NAME"`]
    print(`No plugin is enabled. Example for ${join(places.config, 'config.toml')}:`, '', ...example)
  } else print(...found.flatMap((plugin, at) => [...(at === 0 ? [] : ['']), ...inWords(plugin)]))
  return exitCodes.done
}

async function described(plugin: Plugin) {
  const files = pluginFiles(plugin)
  const definitions = await findDefinitions([{ path: plugin.root, prefix: `${plugin.name}:` }])
  const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name)
  const { servers, faults } = pluginServers(plugin, process.env)
  return {
    ...plugin,
    skills: names(definitions.skills),
    commands: names(definitions.commands).map((name) => `/${name}`),
    agents: names(definitions.agents),
    hooks: [...loadHooks([{ path: files.hooks, layer: 'plugin' }]).hooks.keys()],
    servers: names(servers),
    faults: [...definitions.faults, ...faults],
  }
}

function inWords({
  name,
  root,
  version,
  description,
  ...parts
}: Awaited<ReturnType<typeof described>>): readonly string[] {
  const title = `${name}${version === undefined ? '' : ` ${version}`} · ${root}`
  const lines = Object.entries(parts).flatMap(([kind, list]) =>
    list.length === 0 ? [] : [`  ${kind}: ${list.join(', ')}`],
  )
  return [title, ...(description === undefined ? [] : [`  ${description}`]), ...lines]
}
