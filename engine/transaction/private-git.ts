import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { GitDirectories } from '../../sandbox/index.ts'

/** Git's directories in a view, by what is kept of a repository: its work tree, or the git directory itself. */
export function privateGitOf(kept: string): GitDirectories | undefined {
  const inside = join(kept, '.git')
  const own = lstatSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? inside : kept
  const isGit = lstatSync(join(own, 'HEAD'), { throwIfNoEntry: false }) !== undefined
  return isGit ? { own, common: own } : undefined
}
