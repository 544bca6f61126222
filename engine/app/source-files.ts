import { join } from 'node:path'
import { claudeProjectFiles, claudeSettingsFile } from '../config/foreign/claude-settings.ts'
import { pluginRegistry } from '../config/foreign/claude-plugins.ts'
import { codexConfigFile } from '../config/foreign/codex-config.ts'
import type { Project } from '../config/read-project.ts'
import { namesIn } from '../core/names-in.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { memoryFiles } from '../memory/read-memory.ts'
import type { Plugin } from './enabled-plugins.ts'
import { pluginFiles } from './enabled-plugins.ts'

/** A file or folder that may contain configuration. */
export type SourceFile = {
  readonly path: string
  readonly what: 'settings' | 'rules' | 'permissions' | 'hooks' | 'servers' | 'plugins' | 'instructions' | 'definitions'
  readonly whose: 'machine' | 'user' | 'repository' | 'plugin'
  /** The program for which the file is written. For programs other than `portcullis`, the setting `import` may decide whether the file is used. */
  readonly program: 'portcullis' | 'codex' | 'claude' | 'other'
  /** The paths of this file and of its alternatives. Only the first of these files that has content is used. Absent: there are no alternatives. */
  readonly alternatives?: readonly string[]
}

type Where = { readonly places: AppPaths; readonly project: Project; readonly plugins: readonly Plugin[] }

/**
 * Returns all files that may contain configuration for a run: first the machine's, then the user's, those of plugins, and the repository's. Files
 * within a folder of rules or settings are sorted by name.
 */
export function sourceFiles(where: Where): readonly SourceFile[] {
  return [...machineFiles(where), ...userFiles(where), ...where.plugins.flatMap(filesOfPlugin), ...projectFiles(where)]
}

type Common = Pick<SourceFile, 'whose' | 'program'>

const file = (path: string, what: SourceFile['what'], common: Common): SourceFile => ({ path, what, ...common })

function machineFiles({ places }: Where): readonly SourceFile[] {
  const own = { whose: 'machine', program: 'portcullis' } as const
  const claude = { whose: 'machine', program: 'claude' } as const
  const more = join(places.managedClaude, 'managed-settings.d')
  return [
    ...ownFiles(places.managed, own),
    file(join(places.managedClaude, 'managed-settings.json'), 'permissions', claude),
    ...withEntries(more, '.json', (path) => file(path, 'permissions', claude)),
  ]
}

function userFiles({ places, project }: Where): readonly SourceFile[] {
  const { home, config } = places
  const claude = { whose: 'user', program: 'claude' } as const
  const codex = { whose: 'user', program: 'codex' } as const
  const own = { whose: 'user', program: 'portcullis' } as const
  return [
    file(codexConfigFile(places.codex), 'settings', codex),
    ...rules(places.codex, codex),
    file(claudeSettingsFile(home), 'settings', claude),
    file(pluginRegistry(home), 'plugins', claude),
    file(join(home, '.claude.json'), 'servers', claude),
    ...ownFiles(config, own),
    file(join(config, 'permissions.json'), 'permissions', own),
    ...instructions(memoryFiles({ user: config, home, ...project }).user, 'user'),
    ...[config, join(home, '.agents'), join(home, '.claude')].flatMap((folder) => definitions(folder, 'user')),
  ]
}

function projectFiles({ places, project }: Where): readonly SourceFile[] {
  const own = { whose: 'repository', program: 'portcullis' } as const
  const codex = { whose: 'repository', program: 'codex' } as const
  const claude = { whose: 'repository', program: 'claude' } as const
  const other = { whose: 'repository', program: 'other' } as const
  const directories = directoriesBetween(project.root, project.workspace)
  return [
    ...directories.flatMap((directory) => ownFiles(join(directory, '.portcullis'), own)),
    ...directories.map((directory) => file(join(directory, '.codex', 'config.toml'), 'settings', codex)),
    ...directories.flatMap((directory) => rules(join(directory, '.codex'), codex)),
    ...claudeProjectFiles(project).map((path) => file(path, 'settings', claude)),
    ...directories.map((directory) => file(join(directory, '.mcp.json'), 'servers', claude)),
    ...directories.map((directory) => file(join(directory, '.env'), 'settings', other)),
    ...instructions(memoryFiles({ user: places.config, home: places.home, ...project }).repository, 'repository'),
    ...directories.flatMap((directory) =>
      ['.agents', '.claude'].flatMap((name) => definitions(join(directory, name), 'repository')),
    ),
  ]
}

function filesOfPlugin(plugin: Plugin): readonly SourceFile[] {
  const { manifest, hooks, servers } = pluginFiles(plugin)
  const common = { whose: 'plugin', program: 'other' } as const
  return [
    file(manifest, 'plugins', common),
    file(hooks, 'hooks', common),
    file(servers, 'servers', common),
    ...definitions(plugin.root, 'plugin'),
  ]
}

/** The configuration files in one of this program's own folders. */
function ownFiles(folder: string, common: Common): readonly SourceFile[] {
  return [
    file(join(folder, 'config.toml'), 'settings', common),
    file(join(folder, 'hooks.json'), 'hooks', common),
    ...rules(folder, common),
  ]
}

function rules(folder: string, common: Common): readonly SourceFile[] {
  return withEntries(join(folder, 'rules'), '.rules', (path) => file(path, 'rules', common))
}

function instructions(lists: readonly (readonly string[])[], whose: SourceFile['whose']): readonly SourceFile[] {
  return lists.flatMap((alternatives) =>
    alternatives.map((path): SourceFile => ({
      ...file(path, 'instructions', { whose, program: 'other' }),
      ...(alternatives.length === 1 ? {} : { alternatives }),
    })),
  )
}

function definitions(folder: string, whose: SourceFile['whose']): readonly SourceFile[] {
  const common = { whose, program: 'other' } as const
  return ['skills', 'commands', 'agents'].map((name) => file(join(folder, name), 'definitions', common))
}

/** Describes a folder and the entries in it whose names end with `ending`. */
function withEntries(folder: string, ending: string, make: (path: string) => SourceFile): readonly SourceFile[] {
  return [
    make(folder),
    ...namesIn(folder)
      .filter((name) => name.endsWith(ending))
      .map((name) => make(join(folder, name))),
  ]
}
