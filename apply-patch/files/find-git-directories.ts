import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errnoOf } from './commit-error.ts'

/**
 * Finds git's own directories if a tree's `.git` is a link or a `gitdir:` file (as in a linked worktree or a submodule). These directories contain the hooks
 * and the configuration of the repository, but under another path.
 *
 * @returns absolute real paths; empty if `.git` is an ordinary directory, is missing or unreadable, or leads nowhere
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
    // If `.git` or the directory that it names is missing or unreadable, git can't use it either, so nothing has to be protected.
    if (errnoOf(error) !== undefined) return []
    throw error
  }
}

function commonDirectory(directory: string): readonly string[] {
  const file = join(directory, 'commondir')
  if (lstatSync(file, { throwIfNoEntry: false })?.isFile() !== true) return []
  return [realpathSync.native(resolve(directory, readFileSync(file, 'utf8').trim()))]
}
