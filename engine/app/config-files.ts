import { namesIn } from '../core/names-in.ts'
import { join } from 'node:path'
import type { Project } from '../config/read-project.ts'
import type { ConfigFile } from '../hooks/config-watch.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import type { Definitions } from '../skills/definition.ts'

type Sources = {
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  readonly definitions: Definitions
}

/** Returns the files that may configure a run, including those that don't exist. */
export function configFiles({ places, home, project, definitions }: Sources): readonly ConfigFile[] {
  const named = (source: ConfigFile['source'], folder: string, ...names: readonly string[]): readonly ConfigFile[] =>
    names.map((name) => ({ path: join(folder, name), source }))
  const ours = ['config.toml', 'hooks.json', 'permissions.json']
  const written = [...definitions.skills, ...definitions.commands, ...definitions.agents]
  return [
    ...named('policy_settings', places.managed, ...ours, ...rules(places.managed)),
    ...named('user_settings', places.config, ...ours, ...rules(places.config)),
    ...named('user_settings', join(home, '.claude'), 'settings.json'),
    ...named('user_settings', places.codex, 'config.toml', ...rules(places.codex)),
    ...directoriesBetween(project.root, project.workspace).flatMap((folder) => [
      ...named('project_settings', folder, '.claude/settings.json', '.mcp.json'),
      ...named('local_settings', folder, '.claude/settings.local.json'),
      ...named('project_settings', join(folder, '.codex'), ...rules(join(folder, '.codex'))),
      ...named('project_settings', join(folder, '.portcullis'), ...ours, ...rules(join(folder, '.portcullis'))),
    ]),
    ...written.map(({ path }): ConfigFile => ({ path, source: 'skills' })),
  ]
}

/** The rule files in a folder, and the folder itself, whose modification time changes when a file is added or removed. */
function rules(folder: string): readonly string[] {
  const files = namesIn(join(folder, 'rules')).filter((name) => name.endsWith('.rules'))
  return ['rules', ...files.map((name) => join('rules', name))]
}
