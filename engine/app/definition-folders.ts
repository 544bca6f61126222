import { join } from 'node:path'
import type { Project } from '../config/read-project.ts'
import { directoriesBetween } from '../core/directories-between.ts'
import type { AppPaths } from '../core/app-paths.ts'
import type { DefinitionFolder } from '../skills/find-definitions.ts'
import type { Plugin } from './enabled-plugins.ts'

/**
 * Returns the folders that may contain skills, commands and agents: the repository's, from the working directory upwards, then the user's, then those of
 * plugins. The names of a plugin's definitions begin with the plugin's name. Definitions are instructions, so a repository's definitions are trusted no more
 * than its AGENTS.md: they can restrict which tools may be called, but never allow more. The folders of an untrusted repository come after the user's, so such
 * a repository can't redefine a name that the user has defined.
 */
export function definitionFolders(
  { places, home, project, trusted, isolated }: DefinitionPlaces,
  plugins: readonly Plugin[],
): readonly DefinitionFolder[] {
  const plugged = plugins.map(({ root, name }) => ({ path: root, prefix: `${name}:` }))
  if (isolated) return plugged
  const directories = [...directoriesBetween(project.root, project.workspace)].reverse()
  const brought = directories.flatMap((directory) => [join(directory, '.agents'), join(directory, '.claude')])
  const own = [places.config, join(home, '.agents'), join(home, '.claude')]
  const paths = trusted ? [...brought, ...own] : [...own, ...brought]
  const unnamed = [...new Set(paths)].map((path) => ({ path, prefix: '' }))
  return [...unnamed, ...plugged]
}

type DefinitionPlaces = {
  readonly places: AppPaths
  readonly home: string
  readonly project: Project
  readonly trusted: boolean
  /** Whether the user's and the repository's folders are ignored. */
  readonly isolated: boolean
}
