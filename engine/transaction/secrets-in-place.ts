import { join } from 'node:path'
import { pathOfKey } from '../core/changes/list-files.ts'
import { filesIn } from './files-in.ts'
import { findSecretFiles } from './secret-files.ts'

/**
 * Finds the files that a view of these trees would leave out because they hold secrets.
 *
 * @param shown the absolute paths that the user wants to show, with everything below them
 * @returns absolute paths
 */
export async function secretsInPlace(trees: readonly string[], shown: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  for (const tree of trees) {
    // A link isn't denied, because that would deny what it leads to, which may be a tracked file.
    const { files } = await filesIn(tree)
    for (const key of await findSecretFiles(tree, files, shown)) found.push(join(tree, pathOfKey(key)))
  }
  return found
}
