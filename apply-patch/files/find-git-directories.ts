import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errnoOf } from './commit-error.ts'

/**
 * Git's own directories that a tree's `.git` leads to when it is a link or a `gitdir:` file (a linked worktree, a submodule): they contain the hooks and the
 * configuration of the repository, but under another path.
 *
 * @returns absolute real paths; empty when `.git` is an ordinary directory or missing
 */
export function findGitDirectories(root: string): readonly string[] {
  const git = join(root, '.git')
  try {
    const stats = lstatSync(git, { throwIfNoEntry: false })
    if (stats === undefined || stats.isDirectory()) return []
    if (stats.isSymbolicLink()) return [realpathSync.native(git)]
    if (!stats.isFile()) return []
    const pointer = /^gitdir: (.+)$/m.exec(readFileSync(git, 'utf8'))?.[1]?.trimEnd()
    if (pointer === undefined) return []
    const directory = realpathSync.native(resolve(dirname(git), pointer))
    return [directory, ...commonDirectory(directory)]
  } catch (error) {
    // A pointer to a missing directory protects nothing, because there is no repository.
    if (errnoOf(error) !== undefined) return []
    throw error
  }
}

function commonDirectory(directory: string): readonly string[] {
  const file = join(directory, 'commondir')
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return []
  return [realpathSync.native(resolve(directory, readFileSync(file, 'utf8').trim()))]
}
