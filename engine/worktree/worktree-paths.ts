import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readHostFile } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'

/**
 * Where git stores its data about a worktree, if the two name each other: a `.git` file alone could name anything.
 *
 * @param path the worktree's directory, without symlinks
 */
export function adminOf(path: string): string | undefined {
  try {
    const file = join(path, '.git')
    if (!lstatSync(file).isFile()) return undefined
    const named = /^gitdir: (.+)$/m.exec(textOf(file))?.[1]
    if (named === undefined) return undefined
    const admin = realpathSync(resolve(path, named))
    const back = textOf(join(admin, 'gitdir')).trim()
    return realpathSync(dirname(resolve(admin, back))) === path ? admin : undefined
  } catch {
    // Part of the path is missing.
    return undefined
  }
}

/** The directory that all worktrees of a repository share, without symlinks; undefined where that can't be told. */
export function commonDirectory(root: string): string | undefined {
  try {
    const git = realpathSync(join(root, '.git'))
    if (lstatSync(git).isDirectory()) return git
    const admin = adminOf(realpathSync(root))
    return admin === undefined ? undefined : realpathSync(resolve(admin, textOf(join(admin, 'commondir')).trim()))
  } catch {
    return undefined
  }
}

/** What has to be readable for git to work in a tree: the tree, and its repository if that is elsewhere. */
export function repositoryOf(root: string): readonly string[] {
  const common = commonDirectory(root)
  // Listed separately, a path within a writable one could not be written.
  return common === undefined || isInside(common, root) ? [root] : [root, common]
}

/** The text of a git file; throws where there is none. */
function textOf(file: string): string {
  const bytes = readHostFile(file)
  if (bytes === undefined) throw new Error(`${file} is no file that can be read`)
  return bytes.toString()
}
