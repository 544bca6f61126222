import { join } from 'node:path'
import type { Project } from '../config/read-project.ts'
import type { HookFile } from '../hooks/load-hooks.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import { pluginFiles, type Plugin } from './enabled-plugins.ts'

type HookPlaces = {
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  /** Whether the repository is trusted. Its files are used only if it is. */
  readonly trusted: boolean
  /** Whether the user's and the repository's configuration files are ignored. */
  readonly isolated: boolean
  readonly plugins: readonly Plugin[]
}

/** The files in which the machine's owner, the user, plugins and a trusted repository may configure hooks. The files need not exist. */
export function hookFiles({ places, home, project, trusted, isolated, plugins }: HookPlaces): readonly HookFile[] {
  const plugged = plugins.map((plugin): HookFile => ({
    path: pluginFiles(plugin).hooks,
    layer: 'plugin',
    pluginRoot: plugin.root,
  }))
  const managed: HookFile = { path: join(places.managed, 'hooks.json'), layer: 'managed' }
  if (isolated) return [managed, ...plugged]
  const own: readonly HookFile[] = [
    managed,
    { path: join(places.config, 'hooks.json'), layer: 'user' },
    { path: join(home, '.claude', 'settings.json'), layer: 'user' },
    ...plugged,
  ]
  if (!trusted) return own
  const names = ['.claude/settings.json', '.claude/settings.local.json', '.portcullis/hooks.json']
  const brought = directoriesBetween(project.root, project.workspace).flatMap((directory) =>
    names.map((name): HookFile => ({ path: join(directory, name), layer: 'project' })),
  )
  return [...own, ...brought.filter(({ path }) => own.every((one) => one.path !== path))]
}
