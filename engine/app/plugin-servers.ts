import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { isTable } from '../core/is-table.ts'
import { readJsonFile, serversIn, serversOfMcpJson, together, type JsonServers } from '../mcp/json-servers.ts'
import { pluginFiles, type Plugin } from './enabled-plugins.ts'

/**
 * The servers of a plugin: those in its `.mcp.json`, and those in the field `mcpServers` of its manifest. This field is a table of servers, the path of a file
 * in the plugin, or a list of these (https://code.claude.com/docs/en/plugins-reference). As in Claude Code, their tools are called
 * `mcp__plugin_PLUGIN_SERVER__TOOL`. Parts that can't be used are left out.
 */
export function pluginServers(plugin: Plugin, env: Readonly<NodeJS.ProcessEnv>): JsonServers {
  const files = pluginFiles(plugin)
  const reading = {
    env: { ...env, CLAUDE_PLUGIN_ROOT: plugin.root },
    within: realpathSync(plugin.root),
    prefix: `plugin_${plugin.name}_`,
  }
  const own = serversOfMcpJson(files.servers, reading)
  const manifest = readJsonFile(files.manifest, reading)
  if (manifest === undefined || 'reason' in manifest || !isTable(manifest.value)) return own
  const named = manifest.value['mcpServers']
  const parts = Array.isArray(named)
    ? named.map((part: unknown, at) => ({ part, at: [at] }))
    : [{ part: named, at: [] }]
  const declared = parts.map(({ part, at }): JsonServers => {
    const path = ['mcpServers', ...at]
    if (part === undefined) return { servers: [], faults: [] }
    if (typeof part !== 'string') return serversIn(manifest, path, reading)
    const file = join(plugin.root, part)
    return file === files.servers ? { servers: [], faults: [] } : serversOfMcpJson(file, reading)
  })
  return together([own, ...declared])
}
