import { lstatSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { readHostFile } from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'

/**
 * Returns the directory in which git stores its data about a worktree. The worktree's `.git` file could name any directory, so undefined is returned unless
 * that directory names the worktree in turn.
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
    // One of the files or directories doesn't exist, or can't be read.
    return undefined
  }
}

/** Returns the directory that all worktrees of a repository share, without symlinks; undefined if it can't be determined. */
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

/** Returns the paths that git must be able to read to work in a tree: the tree, and its repository if that is in a different place. */
export function repositoryOf(root: string): readonly string[] {
  const common = commonDirectory(root)
  // A path inside a writable directory must not be listed separately: that would make it read-only.
  return common === undefined || isInside(common, root) ? [root] : [root, common]
}

/** Reads one of git's own files as text. Throws if the file can't be read. */
function textOf(file: string): string {
  const bytes = readHostFile(file)
  if (bytes === undefined) throw new Error(`${file} is not a readable file`)
  return bytes.toString()
}
