import { basename, dirname, join } from 'node:path'
import { hostFileSystem } from '../file-system-view.ts'
import { existsSync } from '../host-paths.ts'
import { isWithin } from '../paths.ts'
import { shownPath, type View } from '../views/view-paths.ts'
import { objectPlaces } from './alternates.ts'
import { repositoryOf } from './repository.ts'

/**
 * Returns a function that tells whether a repository may borrow objects from a directory. What a repository names may come from a command, which would
 * get to see every directory that it names. So a repository in a view borrows only what the original at the view's path has or borrows; one in another
 * root borrows nothing; and others, which no command has written, borrow from repositories only.
 *
 * @param git the repository's directory, where it is stored
 */
export function lendersOf(
  git: string,
  { views, roots }: { readonly views: readonly View[]; readonly roots: readonly string[] },
): (directory: string) => boolean {
  if (!views.some(({ source }) => isWithin(git, source))) {
    if (roots.some((root) => isWithin(git, root))) return () => false
    return (directory) => basename(directory) === 'objects' && existsSync(join(dirname(directory), 'HEAD'))
  }
  const original = shownPath(git, views)
  const found = new Set<string>()
  for (const repository of [original, repositoryOf(dirname(original)), repositoryOf(original)]) {
    const objects = repository && hostFileSystem.realPath(join(repository, 'objects'))
    if (objects !== undefined) objectPlaces(objects, found)
  }
  return (directory) => found.has(hostFileSystem.realPath(directory) ?? '')
}
