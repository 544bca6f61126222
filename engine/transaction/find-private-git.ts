import { lstatSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readHostFile, type GitDirectories } from '../../sandbox/index.ts'

/** Finds the git directories of a repository in a view. `kept` is either the repository's work tree in the view or its git directory. */
export function privateGitOf(kept: string): GitDirectories | undefined {
  const inside = join(kept, '.git')
  const own = lstatSync(inside, { throwIfNoEntry: false })?.isDirectory() === true ? inside : kept
  const isGit = lstatSync(join(own, 'HEAD'), { throwIfNoEntry: false }) !== undefined
  if (!isGit) return undefined
  // The `commondir` of a linked work tree was written when the view was made, and commands can't change it.
  const isLinked = readHostFile(join(own, 'commondir'))?.toString() === '../..\n'
  return { own, common: isLinked ? resolve(own, '../..') : own }
}
