import { existsSync, realpathSync } from '../host-paths.ts'
import { basename, dirname, join, resolve } from 'node:path'
import { encodePath } from '../path-bytes.ts'
import { isWithin } from '../paths.ts'
import { shownPath, type View } from '../views/view-paths.ts'
import { parseAlternates } from './alternates.ts'
import { holdDirectory } from './held-directory.ts'
import { repositoryOf } from './repository.ts'

/** How many repositories may borrow from each other in a row, as in git itself. */
const deepest = 5

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
  const follow = (objects: string, depth: number): void => {
    const real = realOrUndefined(objects)
    if (real === undefined || found.has(real) || depth > deepest) return
    found.add(real)
    for (const path of borrowedBy(real)) follow(path, depth + 1)
  }
  for (const repository of [original, repositoryOf(dirname(original)), repositoryOf(original)]) {
    if (repository !== undefined) follow(join(repository, 'objects'), 0)
  }
  return (directory) => found.has(realOrUndefined(directory) ?? '')
}

function borrowedBy(objects: string): readonly string[] {
  try {
    const held = holdDirectory(encodePath(objects))
    try {
      return parseAlternates(held.read('info/alternates', 1024 * 1024)).map((path) => resolve(objects, path))
    } finally {
      held.close()
    }
  } catch {
    // The directory is gone or out of reach, so nothing can be borrowed from what it names.
    return []
  }
}

function realOrUndefined(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    return undefined
  }
}
