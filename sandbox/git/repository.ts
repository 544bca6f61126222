import { lstatSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { isWithin } from '../paths.ts'
import { encodePath } from '../path-bytes.ts'
import { realpathSync } from '../host-paths.ts'
import { holdDirectory, type HeldDirectory } from './held-directory.ts'
import type { GitDirectories } from './git-directories.ts'
import { keyOf, parseConfigFile } from './config-file.ts'
import type { WorktreeScope } from './private-copy.ts'

const largest = 1024 * 1024

/**
 * Finds the repository of a directory: for a work tree, the git directory that all work trees share; for a repository, the directory itself. Returns
 * undefined if the directory is neither. A file named `.git` counts only if the repository that it names also names this directory. Otherwise a file
 * that came with the tree could name any repository on the disk.
 */
export function repositoryOf(directory: string): string | undefined {
  return gitDirectoriesOf(directory)?.common ?? (isBareAt(directory) ? directory : undefined)
}

/**
 * Git's directories for a work tree; undefined if the path isn't one. A file named `.git` is treated as in `repositoryOf`.
 *
 * @internal
 */
export function gitDirectoriesOf(directory: string): GitDirectories | undefined {
  try {
    const link = join(directory, '.git')
    const stat = lstatSync(encodePath(link), { throwIfNoEntry: false })
    if (stat?.isFile() === true) return linkedFrom(directory)
    if (stat?.isDirectory() !== true && stat?.isSymbolicLink() !== true) return undefined
    const git = stat.isDirectory() ? link : realpathSync(link)
    return looksLikeGit(git) ? { own: git, common: git } : undefined
  } catch {
    // Part of the path is missing or out of reach.
    return undefined
  }
}

function isBareAt(directory: string): boolean {
  try {
    return lstatSync(encodePath(join(directory, '.git')), { throwIfNoEntry: false }) === undefined && isBare(directory)
  } catch {
    return false
  }
}

function linkedFrom(worktree: string): GitDirectories | undefined {
  const named = /^gitdir: ([^\0\n]+)\n?$/.exec(readText(worktree, '.git') ?? '')?.[1]
  if (named === undefined) return undefined
  const directory = realpathSync(resolve(worktree, named))
  const common = readText(directory, 'commondir')
  if (common !== undefined) {
    const back = readText(directory, 'gitdir')?.replace(/\n$/, '')
    if (back === undefined || realpathSync(dirname(resolve(directory, back))) !== worktree) return undefined
    const repository = realpathSync(resolve(directory, common.replace(/\n$/, '')))
    return dirname(directory) === join(repository, 'worktrees') ? { own: directory, common: repository } : undefined
  }
  return worktreeNamedBy(directory) === worktree ? { own: directory, common: directory } : undefined
}

/** The work tree that a repository's own config names; undefined if it names none that exists. */
export function worktreeNamedBy(git: string): string | undefined {
  const back = parseConfigFile(readText(git, 'config') ?? '')?.findLast(
    (entry) => keyOf(entry) === 'core.worktree',
  )?.value
  return back === undefined ? undefined : realOrUndefined(resolve(git, back))
}

/** Whether a directory has the entries by which git recognizes a repository. Git also checks the content of HEAD. */
function looksLikeGit(path: string): boolean {
  const has = (name: string): boolean =>
    lstatSync(encodePath(join(path, name)), { throwIfNoEntry: false }) !== undefined
  return has('HEAD') && has('objects') && has('refs')
}

/** Whether a path's last component is `.git`, in any mixture of upper and lower case. */
export function isNamedGit(path: string): boolean {
  return basename(path).toLowerCase() === '.git'
}

/** Whether a directory is a bare repository that contains only git's own files. */
export function isBare(path: string): boolean {
  if (!looksLikeGit(path)) return false
  const held = holdDirectory(encodePath(path))
  try {
    const own =
      /^(?:HEAD|[A-Z_]+_HEAD|config|config\.worktree|description|hooks|info|objects|refs|logs|packed-refs|branches|worktrees|modules|index|lfs|shallow|gc\.log|gc\.pid|rr-cache|COMMIT_EDITMSG|BISECT_[A-Z_]+|git-daemon-export-ok)(?:\.lock)?$/
    return (held.names('') ?? []).every((name) => own.test(name))
  } finally {
    held.close()
  }
}

/**
 * The work trees of a repository.
 *
 * @param roots the directories that commands may write to, without symlinks
 */
export function scopesOf(git: string, host: HeldDirectory, roots: readonly string[]): readonly WorktreeScope[] {
  const isWritable = (path: string | undefined): boolean =>
    path !== undefined && roots.some((root) => isWithin(path, root))
  const own = worktreeNamedBy(git) ?? (basename(git) === '.git' ? dirname(git) : undefined)
  const linked = (host.names('worktrees') ?? []).flatMap((name): readonly WorktreeScope[] => {
    const prefix = `worktrees/${name}/`
    const back = host.text(`${prefix}gitdir`, 4096)?.replace(/\n$/, '')
    if (back === undefined) return []
    const worktree = realOrUndefined(dirname(resolve(git, prefix, back)))
    return [{ prefix, worktree, writable: isWritable(worktree) }]
  })
  return [{ prefix: '', worktree: own, writable: isWritable(own ?? git) }, ...linked]
}

function readText(directory: string, name: string): string | undefined {
  const held = holdDirectory(encodePath(directory))
  try {
    return held.text(name, largest)
  } finally {
    held.close()
  }
}

function realOrUndefined(path: string): string | undefined {
  try {
    return realpathSync(path)
  } catch {
    // This work tree no longer exists.
    return undefined
  }
}
