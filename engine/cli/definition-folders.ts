import { join } from 'node:path'
import type { Project } from '../config/read-project.ts'
import { directoriesBetween } from '../paths.ts'
import type { Places } from '../places.ts'
import type { DefinitionFolder } from '../skills/find-definitions.ts'
import type { Plugin } from './plugins.ts'

/**
 * Where skills, commands and agents are looked for: the repository, from the working directory up, then the user's folders, then
 * plugins, whose names carry the plugin's. They are instructions, so a repository's count as its AGENTS.md does; they can narrow what may
 * be called, and widen nothing.
 */
export function definitionFolders(
  { places, home, project }: { readonly places: Places; readonly home: string; readonly project: Project },
  plugins: readonly Plugin[],
): readonly DefinitionFolder[] {
  const own = [...directoriesBetween(project.root, project.workspace)].reverse()
  const paths = [
    ...own.flatMap((directory) => [join(directory, '.agents'), join(directory, '.claude')]),
    places.config,
    join(home, '.agents'),
    join(home, '.claude'),
  ]
  const unnamed = [...new Set(paths)].map((path) => ({ path, prefix: '' }))
  return [...unnamed, ...plugins.map(({ root, name }) => ({ path: root, prefix: `${name}:` }))]
}
