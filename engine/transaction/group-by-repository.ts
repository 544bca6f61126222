import { lstatSync } from 'node:fs'
import { below, bytesOf, directoryOf } from './path-keys.ts'

/**
 * Groups entries by the repository that contains them, because git answers only for the files of one repository.
 *
 * @param source the tree that contains the entries
 * @returns the entries by the key of the repository's work tree; the key is undefined for entries outside all repositories
 */
export function groupByRepository<T extends { readonly key: string }>(
  source: string,
  entries: readonly T[],
): ReadonlyMap<string | undefined, readonly T[]> {
  const known = new Map<string, string | undefined>([['', isRepository(source, '') ? '' : undefined]])
  const nearest = (directory: string): string | undefined => {
    if (known.has(directory)) return known.get(directory)
    const found = isRepository(source, directory) ? directory : nearest(directoryOf(directory))
    known.set(directory, found)
    return found
  }
  return Map.groupBy(entries, ({ key }) => nearest(directoryOf(key)))
}

/** Whether a path is a directory, and not a link to one, that contains a git directory. */
export function isRepository(tree: string, key: string): boolean {
  try {
    return lstatSync(bytesOf(tree, key)).isDirectory() && lstatSync(bytesOf(tree, below(key, '.git'))) !== undefined
  } catch {
    return false
  }
}
