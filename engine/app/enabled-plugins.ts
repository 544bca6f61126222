import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { homeDirectory } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { checkJson, readJson } from '../core/read-json.ts'
import { keyOf } from '../config/leaves.ts'
import type { Config } from '../config/load-config.ts'
import { UserError } from '../core/user-error.ts'

/** A folder of skills, commands, agents, hooks and MCP servers that the user has enabled. */
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
 * Returns the folders of plugins that Claude Code installed. The sandbox hides the directory that contains them. These folders must be made readable, because
 * the plugins' hooks and servers run programs in them.
 */
export function installedRoots(
  { settings, origins }: Pick<Config, 'settings' | 'origins'>,
  home: string,
): readonly string[] {
  const folder = join(home, '.claude', 'plugins')
  return Object.entries(settings.plugins ?? {}).flatMap(([name, { path }]) => {
    const isForeign = origins.get(keyOf(['plugins', name]))?.layer.name.endsWith('.json') === true
    return isForeign && path !== folder && isInside(path, folder) && existsSync(path) ? [path] : []
  })
}

type PluginTable = NonNullable<Config['settings']['plugins']>[string]

/**
 * Returns the plugins that the configuration enables. If Claude Code's settings enable a plugin that can't be used, the plugin is left out, and a sentence
 * about the problem is returned.
 *
 * @throws UserError `usage` if a plugin in this program's own configuration doesn't exist, or its manifest can't be read
 */
export function enabledPlugins({ settings, origins }: Pick<Config, 'settings' | 'origins'>): {
  readonly plugins: readonly Plugin[]
  readonly faults: readonly string[]
} {
  const plugins: Plugin[] = []
  const faults: string[] = []
  for (const [name, table] of Object.entries(settings.plugins ?? {})) {
    try {
      if (table.enabled !== false) plugins.push(readPlugin(name, table))
    } catch (error) {
      const isForeign = origins.get(keyOf(['plugins', name]))?.layer.name.endsWith('.json') === true
      if (!isForeign || !(error instanceof UserError)) throw error
      faults.push(`${error.message}. The plugin ${name} is left out.`)
    }
  }
  return { plugins, faults }
}

function readPlugin(name: string, { path }: PluginTable): Plugin {
  const root = path === '~' || path.startsWith('~/') ? join(homeDirectory(), path.slice(1)) : path
  if (!existsSync(root)) {
    throw new UserError('usage', `plugins.${name}: ${root} does not exist; expected the folder of a plugin`)
  }
  const file = pluginFiles({ root }).manifest
  if (!existsSync(file)) return { name, root, version: undefined, description: undefined }
  const json = readJson(file)
  const { version, description } = checkJson(Manifest, json, json.value, [])
  return { name, root, version, description }
}

/** The files in which a plugin describes itself and defines its hooks and servers. */
export function pluginFiles({ root }: Pick<Plugin, 'root'>): {
  readonly manifest: string
  readonly hooks: string
  readonly servers: string
} {
  return {
    manifest: join(root, '.claude-plugin', 'plugin.json'),
    hooks: join(root, 'hooks', 'hooks.json'),
    servers: join(root, '.mcp.json'),
  }
}
