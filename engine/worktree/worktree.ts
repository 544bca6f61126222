import { lstatSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { isInside } from '../paths.ts'

/** A worktree that a run works in. */
export type Worktree = {
  /** Its directory, without symlinks. */
  readonly path: string
  /** Absent: somebody else's hook made it, by its own means. */
  readonly git?: {
    readonly branch: string
    /** The commit that it began with. */
    readonly base: string
    /** Where git keeps what it knows of it. */
    readonly admin: string
  }
}

/**
 * Where git keeps what it knows of a worktree, if the two name each other: a `.git` file alone could name anything.
 *
 * @param path the worktree's directory, without symlinks
 */
export function adminOf(path: string): string | undefined {
  try {
    const file = join(path, '.git')
    if (!lstatSync(file).isFile()) return undefined
    const named = /^gitdir: (.+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
    if (named === undefined) return undefined
    const admin = realpathSync(resolve(path, named))
    const back = readFileSync(join(admin, 'gitdir'), 'utf8').trim()
    return realpathSync(dirname(resolve(admin, back))) === path ? admin : undefined
  } catch {
    // Something on the way isn't there, so it leads nowhere.
    return undefined
  }
}

/** The directory that all worktrees of a repository share, without symlinks; undefined where that can't be told. */
export function commonDirectory(root: string): string | undefined {
  try {
    const git = realpathSync(join(root, '.git'))
    if (lstatSync(git).isDirectory()) return git
    const admin = adminOf(realpathSync(root))
    return admin === undefined
      ? undefined
      : realpathSync(resolve(admin, readFileSync(join(admin, 'commondir'), 'utf8').trim()))
  } catch {
    return undefined
  }
}

/** What has to be readable for git to work in a tree: the tree, and where its repository lies if that is elsewhere. */
export function repositoryOf(root: string): readonly string[] {
  const common = commonDirectory(root)
  // Named by itself, what lies in a place that may be written could not be.
  return common === undefined || isInside(common, root) ? [root] : [root, common]
}
