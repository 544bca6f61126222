import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import * as z from 'zod'
import { checkJson, readJson } from '../config/read-json.ts'
import type { Settings } from '../config/schema.ts'
import { exitCodes } from '../exit-codes.ts'
import { loadHooks } from '../hooks/load.ts'
import { serversOfMcpJson } from '../mcp/read-servers.ts'
import { findHome, findPlaces } from '../places.ts'
import { findDefinitions } from '../skills/find-definitions.ts'
import { UserError } from '../user-error.ts'
import type { ConfigOptions } from './declare/config-options.ts'
import { loadRunConfig } from './run-config.ts'
import { findWorkspace } from './workspace.ts'

/** A folder of skills, commands, agents, hooks and MCP servers that the user has switched on. */
export type Plugin = {
  readonly name: string
  readonly root: string
  readonly version: string | undefined
  readonly description: string | undefined
}

const Manifest = z.looseObject({
  name: z.string().optional(),
  version: z.string().optional(),
  description: z.string().optional(),
})

/**
 * The plugins that the configuration switches on.
 *
 * @throws UserError `usage` for one that isn't there, or whose manifest can't be read
 */
export function enabledPlugins(settings: Settings): readonly Plugin[] {
  return Object.entries(settings.plugins ?? {}).flatMap(([name, { path, enabled = true }]) => {
    if (!enabled) return []
    const root = path === '~' || path.startsWith('~/') ? join(homedir(), path.slice(1)) : path
    if (!existsSync(root)) {
      throw new UserError(
        'usage',
        `plugins.${name}: ${root} is not there; expected a folder with .claude-plugin/plugin.json`,
      )
    }
    const file = join(root, '.claude-plugin', 'plugin.json')
    if (!existsSync(file)) return [{ name, root, version: undefined, description: undefined }]
    const json = readJson(file)
    const { version, description } = checkJson(Manifest, json, json.value, [])
    return [{ name, root, version, description }]
  })
}

/** Where a plugin keeps its hooks and its servers. */
export function pluginFiles({ root }: Plugin): { readonly hooks: string; readonly servers: string } {
  return { hooks: join(root, 'hooks', 'hooks.json'), servers: join(root, '.mcp.json') }
}

/**
 * `agent plugins`: what is switched on, and what each brings.
 *
 * @returns the exit code
 */
export async function pluginsCommand(options: ConfigOptions & { readonly json?: true }): Promise<number> {
  const places = findPlaces(process.env)
  const workspace = findWorkspace(options.cd)
  const { settings } = loadRunConfig(options, workspace, places)
  const found = await Promise.all(enabledPlugins(settings).map(described))
  if (options.json === true) for (const plugin of found) process.stdout.write(`${JSON.stringify(plugin)}\n`)
  else if (found.length === 0) {
    const example = `[plugins.NAME]\npath = "${findHome(process.env)}/plugins/NAME"`
    process.stdout.write(`No plugin is switched on. In ${join(places.config, 'config.toml')}:\n\n${example}\n`)
  } else process.stdout.write(`${found.map(inWords).join('\n\n')}\n`)
  return exitCodes.done
}

async function described(plugin: Plugin) {
  const files = pluginFiles(plugin)
  const definitions = await findDefinitions([{ path: plugin.root, prefix: `${plugin.name}:` }])
  const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name)
  const env = { ...process.env, CLAUDE_PLUGIN_ROOT: plugin.root }
  return {
    ...plugin,
    skills: names(definitions.skills),
    commands: names(definitions.commands).map((name) => `/${name}`),
    agents: names(definitions.agents),
    hooks: [...loadHooks([{ path: files.hooks, layer: 'plugin' }]).hooks.keys()],
    servers: names(serversOfMcpJson(files.servers, env)),
    faults: definitions.faults,
  }
}

function inWords({ name, root, version, description, ...parts }: Awaited<ReturnType<typeof described>>): string {
  const title = `${name}${version === undefined ? '' : ` ${version}`} · ${root}`
  const lines = Object.entries(parts).flatMap(([kind, list]) =>
    list.length === 0 ? [] : [`  ${kind}: ${list.join(', ')}`],
  )
  return [title, ...(description === undefined ? [] : [`  ${description}`]), ...lines].join('\n')
}
