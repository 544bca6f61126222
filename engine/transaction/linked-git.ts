import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  readHostFile,
  configForWorktree,
  encodePath,
  encodeText,
  gitDirectoriesOf,
  nestedRepositories,
  targetOfGitFile,
  type GitDirectories,
} from '../../sandbox/index.ts'
import { isInside } from '../core/directories-between.ts'
import { shellJoin } from '../core/text/shell-join.ts'
import { UserError } from '../core/user-error.ts'
import { copyGit } from './copy-git.ts'

/**
 * Paths in the common git directory that are not copied from it: those that belong to a single work tree, to other work trees or to submodules.
 */
const otherTrees =
  /^(?:HEAD|[A-Z_]+_HEAD|index|sharedindex\..*|config\.worktree|logs\/HEAD|worktrees|modules|rebase-.*|sequencer|AUTO_MERGE|BISECT_.*|MERGE_.*|SQUASH_MSG|COMMIT_EDITMSG)$/
const pointers = /^(?:commondir|gitdir|locked)$/

/**
 * Returns the git directories of a tree whose `.git` is a file that points to them, as in a linked work tree or a submodule; undefined for any other
 * tree.
 *
 * @throws UserError `sandboxUnavailable` if `.git` names no repository that refers back to this tree
 */
export function linkedGitOf(tree: string): GitDirectories | undefined {
  const stats = lstatSync(join(tree, '.git'), { throwIfNoEntry: false })
  if (stats === undefined || stats.isDirectory()) return undefined
  const git = gitDirectoriesOf(tree)
  if (git !== undefined) return git
  const link = join(tree, '.git')
  const named = targetOfGitFile(link)
  const [wrong, remedy] =
    named === undefined
      ? [`${link} does not name an existing repository`, 'Repair the link with git worktree repair']
      : existsSync(encodePath(join(named, 'commondir')))
        ? [`${link} names ${named}, which names another work tree`, 'Repair the link with git worktree repair']
        : [
            `${link} names the repository ${named}, whose setting core.worktree does not name ${tree}`,
            `If the repository belongs to this tree, run ${shellJoin(['git', '-C', tree, 'config', 'core.worktree', tree])}`,
          ]
  throw new UserError(
    'sandboxUnavailable',
    `${wrong}, so no private view of the tree can be made. ${remedy}, or run with --in-place.`,
  )
}

/** Creates one git directory for a view from those of a linked work tree or submodule: a separate repository that uses the original's objects. */
export async function copyLinkedGit(
  { own, common }: GitDirectories,
  to: string,
  count: (size: number) => void,
): Promise<void> {
  const target = encodeText(to)
  const shared = { from: encodeText(common), to: target, leavesOut: (path: string) => otherTrees.test(path) }
  const ofTree = { from: encodeText(own), to: target, leavesOut: (path: string) => pointers.test(path) }
  await copyGit(own === common ? [ofTree] : [shared, ofTree], count)
  rewriteConfig(to, undefined)
}

function rewriteConfig(git: string, worktree: string | undefined): void {
  const file = encodePath(join(git, 'config'))
  const content = readHostFile(file, { follow: true })
  const config = content === undefined ? undefined : configForWorktree(content, worktree)
  if (config !== undefined) writeFileSync(file, config)
}

/** A submodule or linked work tree inside a tree: its path, and its git directories in the view and on the host. */
export type NestedGit = { readonly path: string; readonly kept: GitDirectories; readonly host: GitDirectories }

/**
 * Lists the submodules and linked work trees in a tree.
 *
 * @param kept the git directory of the tree's view
 */
export function nestedGit(tree: string, kept: string): readonly NestedGit[] {
  const top = gitDirectoriesOf(tree)
  if (top === undefined) return []
  const moved = (path: string): string =>
    isInside(path, top.own) ? join(kept, relative(top.own, path)) : join(kept, relative(top.common, path))
  return nestedRepositories(tree).map(({ path, git }) => ({
    path,
    kept: { own: moved(git.own), common: moved(git.common) },
    host: git,
  }))
}

/**
 * Connects the submodules and linked work trees of a view with the view's private git directory, in both directions.
 *
 * @param kept the git directory of the view, which commands see as the tree's `.git`
 * @param files where files of the view are written: the copy, or the overlay's upper directory
 */
export async function linkNested(
  tree: string,
  kept: string,
  files: string,
  count: (size: number) => void,
): Promise<void> {
  for (const { path, kept: git, host } of nestedGit(tree, kept)) {
    const shown = join(tree, '.git', relative(kept, git.own))
    if (git.own === git.common) rewriteConfig(git.own, relative(shown, path))
    else {
      mkdirSync(encodePath(dirname(git.own)), { recursive: true })
      const leavesOut = (path: string): boolean => path === 'locked'
      await copyGit([{ from: encodeText(host.own), to: encodeText(git.own), leavesOut }], count)
      writeFileSync(encodePath(join(git.own, 'commondir')), '../..\n')
      writeFileSync(encodePath(join(git.own, 'gitdir')), encodeText(`${relative(shown, join(path, '.git'))}\n`))
    }
    const pointer = encodeText(`gitdir: ${relative(path, shown)}\n`)
    if (readHostFile(encodePath(join(path, '.git')))?.equals(pointer) === true) continue
    const link = encodePath(join(files, relative(tree, path), '.git'))
    makeAlike(tree, files, path)
    rmSync(link, { force: true })
    writeFileSync(link, pointer)
  }
}

/** Creates a directory of the tree and its parents in `files` if they are missing, with the owner, mode and times that they have in the tree. */
function makeAlike(tree: string, files: string, path: string): void {
  const place = encodePath(join(files, relative(tree, path)))
  if (path === tree || existsSync(place)) return
  makeAlike(tree, files, dirname(path))
  const { mode, uid, gid, atime, mtime } = statSync(encodePath(path))
  mkdirSync(place)
  chownSync(place, uid, gid)
  chmodSync(place, mode & 0o7777)
  utimesSync(place, atime, mtime)
}
