import { existsSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { homeDirectory } from '../../sandbox/index.ts'
import { checkJson, readJson } from '../core/read-json.ts'
import type { Settings } from '../config/schema.ts'
import { UserError } from '../core/user-error.ts'

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
    const root = path === '~' || path.startsWith('~/') ? join(homeDirectory(), path.slice(1)) : path
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
