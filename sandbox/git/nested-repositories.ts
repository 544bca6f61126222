import { join } from 'node:path'
import { isWithin } from '../paths.ts'
import { decodeText, encodePath, encodeText } from '../path-bytes.ts'
import { keyOf, parseConfigFile, writeConfigFile } from './config-file.ts'
import type { GitDirectories } from './git-directories.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import { gitDirectoriesOf, scopesOf, worktreeNamedBy } from './repository.ts'

/** How many levels of directories to search for submodules, whose names may contain slashes. */
const deepest = 8

/**
 * Finds the submodules and linked work trees inside a work tree, and the git directories of each. An entry counts only if its git directories are
 * inside those of the outer work tree, and only if the entry and its repository refer to each other.
 *
 * @param tree a work tree, absolute and without symlinks
 * @internal
 */
export function nestedRepositories(tree: string): readonly { readonly path: string; readonly git: GitDirectories }[] {
  const top = gitDirectoriesOf(tree)
  if (top === undefined) return []
  const held = holdDirectory(encodePath(top.common))
  try {
    const linked = scopesOf(top.common, held, []).flatMap(({ worktree }) => (worktree === undefined ? [] : [worktree]))
    const worktrees = [...linked, ...modulesIn(top.own)].filter((path) => path !== tree && isWithin(path, tree))
    return [...new Set(worktrees)].toSorted().flatMap((path) => {
      const git = gitDirectoriesOf(path)
      return git !== undefined && isWithin(git.own, top.common) ? [{ path, git }] : []
    })
  } finally {
    held.close()
  }
}

/** The work trees of all submodules in a git directory, and of their submodules. */
function modulesIn(git: string): readonly string[] {
  const held = holdDirectory(encodePath(git))
  const found: string[] = []
  const look = (directory: HeldDirectory, path: string, depth: number): void => {
    for (const name of directory.names(path) ?? []) {
      const entry = `${path}/${name}`
      if (directory.stat(entry)?.kind !== 'directory' || depth > deepest) continue
      const isGit = directory.stat(`${entry}/HEAD`)?.kind === 'file'
      const worktree = isGit ? worktreeNamedBy(join(git, entry)) : undefined
      if (worktree !== undefined) found.push(worktree)
      look(directory, isGit ? `${entry}/modules` : entry, depth + 1)
    }
  }
  try {
    look(held, 'modules', 0)
    return found
  } finally {
    held.close()
  }
}

/**
 * The settings of a repository, changed for a copy of the repository that has a different work tree.
 *
 * @param config the content of the config file
 * @param worktree the path of the copy's work tree, relative to the git directory; undefined for the directory that contains the git directory
 * @returns undefined if git would reject the file
 * @internal
 */
export function configForWorktree(config: Buffer, worktree: string | undefined): Buffer | undefined {
  const entries = parseConfigFile(decodeText(config))?.filter(
    (entry) => !['core.worktree', 'core.bare'].includes(keyOf(entry)),
  )
  const own = { section: 'core', subsection: undefined, name: 'worktree', value: worktree }
  return entries && encodeText(writeConfigFile(worktree === undefined ? entries : [...entries, own]))
}
