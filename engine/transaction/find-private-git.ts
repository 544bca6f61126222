import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readHostFile, type GitDirectories } from '../../sandbox/index.ts'

/** Git's directories in a view, by what is kept of a repository: its work tree, or the git directory itself. */
export function privateGitOf(kept: string): GitDirectories | undefined {
  const inside = join(kept, '.git')
  const own = lstatSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? inside : kept
  const isGit = lstatSync(join(own, 'HEAD'), { throwIfNoEntry: false }) !== undefined
  if (!isGit) return undefined
  // As it was written when the view was made, and commands can't change: a linked work tree's.
  const isLinked = readHostFile(join(own, 'commondir'))?.toString() === '../..\n'
  return { own, common: isLinked ? resolve(own, '../..') : own }
}
