import { existsSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import * as z from 'zod'
import { ignoredForFault, ignoring, type Ignored } from '../ignored.ts'
import type { Project } from '../read-project.ts'
import { parseForeignJson } from './parse-json.ts'
import { readForeignText } from './read-text.ts'

const Installed = z.looseObject({
  installPath: z.string(),
  scope: z.string().optional().catch(undefined),
  projectPath: z.string().optional().catch(undefined),
})

/** Claude Code's record of installed plugins: a list of entries for each `NAME@MARKETPLACE`, or a single entry in older files. */
const Registry = z.looseObject({
  plugins: z.record(z.string(), z.union([z.array(z.unknown()), z.looseObject({})])),
})

/** The path of Claude Code's record of installed plugins. */
export function pluginRegistry(home: string): string {
  return join(home, '.claude', 'plugins', 'installed_plugins.json')
}

/**
 * Finds the plugins that Claude Code's setting `enabledPlugins` enables and that Claude Code has installed for the user or for this repository. The
 * other enabled plugins are listed in `ignored`.
 *
 * @param path the file that contains the setting, for messages
 */
export function installedPlugins(
  enabled: Readonly<Record<string, unknown>>,
  home: string,
  project: Project,
  path: string,
): {
  readonly tables: Readonly<Record<string, { readonly path: string }>>
  readonly ignored: readonly Ignored[]
} {
  const wanted = Object.keys(enabled).filter((key) => enabled[key] === true)
  if (wanted.length === 0) return { tables: {}, ignored: [] }
  const file = pluginRegistry(home)
  const registry = readRegistry(file)
  if (registry.reason !== undefined) return { tables: {}, ignored: [ignoredForFault(file, registry.reason)] }
  const found = wanted.map((key) => ({ key, name: nameOf(key), root: rootOf(registry.plugins[key], project) }))
  const sound = found.flatMap(({ name, root }) =>
    name === '' || root === undefined ? [] : [[name, { path: root }] as const],
  )
  const missing = found.filter(({ name, root }) => name === '' || root === undefined).map(({ key }) => key)
  return {
    // `fromEntries` keeps the last of several plugins with the same name, but the first one must win. So the list is reversed.
    tables: Object.fromEntries(sound.toReversed()),
    ignored: ignoring(
      path,
      missing.map((key) => `enabledPlugins.${key}`),
      `according to ${file}, the plugin is not installed for the user or for this repository, or its folder does not exist`,
    ),
  }
}

/** A plugin's name without its marketplace, and with hyphens in place of the characters that this program doesn't allow in plugin names. */
function nameOf(key: string): string {
  return key.replace(/@.*$/s, '').replaceAll(/[^\w-]+/g, '-')
}

function rootOf(entry: unknown, { root }: Project): string | undefined {
  const entries = (Array.isArray(entry) ? entry : [entry]).flatMap((one) => {
    const { data } = Installed.safeParse(one)
    return data === undefined ? [] : [data]
  })
  const mine = entries.filter(({ scope = 'user', projectPath }) => scope === 'user' || projectPath === root)
  return mine.map(({ installPath }) => installPath).find((path) => isAbsolute(path) && existsSync(path))
}

function readRegistry(file: string): {
  readonly plugins: z.infer<typeof Registry>['plugins']
  readonly reason?: string
} {
  const text = readForeignText(file)
  if (text === undefined) return { plugins: {} }
  const parsed = typeof text === 'string' ? parseForeignJson(text, file) : text
  if ('reason' in parsed) return { plugins: {}, reason: parsed.reason }
  const { data } = Registry.safeParse(parsed.value)
  return data === undefined
    ? { plugins: {}, reason: 'expected {"plugins": {"NAME@MARKETPLACE": […]}}' }
    : { plugins: data.plugins }
}
