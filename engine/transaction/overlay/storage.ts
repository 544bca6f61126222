import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { shownIndex, type GitDirectories, type Overlays } from '../../../sandbox/index.ts'
import { copyGit } from '../copy-git.ts'
import { noteRoot } from './lower-directories.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from '../linked-git.ts'

/** Where one tree's overlay is stored: the files written over the tree, and git's index from the time when the view was made. */
export type OverlayStorage = {
  readonly upper: string
  readonly index: string
  /** The directory that contains the private `.git` directory, as a work tree does. It doesn't exist if the tree had no git directory. */
  readonly repository: string
  /** A file that was made together with the view. Files with a later change time have changed since the view was made. */
  readonly began: string
  /** A file that says which directory the root of the tree was when the view was made. */
  readonly root: string
  /** A file that lists the tracked files that differed from the index when the view was made. */
  readonly unclean: string
  /** A file that lists the keys of the files that the view leaves out because they hold secrets. It doesn't exist if there are none. */
  readonly secrets: string
  /** A file that lists the keys of the tree's links. */
  readonly links: string
}

/**
 * Returns where the overlay of a tree is stored.
 *
 * @param number the position of the tree in the view
 */
export function overlayStorage(folder: string, number: number): OverlayStorage {
  const at = (name: string): string => join(folder, `${name}-${number}`)
  return {
    upper: at('upper'),
    index: at('index'),
    repository: at('repository'),
    began: join(folder, 'began'),
    root: at('root'),
    unclean: at('unclean'),
    secrets: at('secrets'),
    links: at('links'),
  }
}

/**
 * What is mounted for a session's view, and where. The mount points are outside the session's folder, so that the folder can be removed
 * while they are in use.
 */
export function overlaysOf(directory: string, folder: string, trees: number): Overlays {
  const mounted = mountFolder(directory)
  return { directory: folder, mounts: Array.from({ length: trees }, (_, number) => join(mounted, `${number}`)) }
}

const allMounted = (directory: string): string => join(dirname(dirname(directory)), 'mounted')
const mountFolder = (directory: string): string => join(allMounted(directory), basename(directory))

/**
 * Creates the storage for overlays of these trees. A tree's git directory is copied without its objects, as in a copied view. Everything else stays in the
 * lower tree.
 *
 * @param folder an existing directory
 */
export async function makeOverlayStorage(folder: string, trees: readonly string[]): Promise<void> {
  for (const [number, tree] of trees.entries()) {
    for (const name of ['upper', 'work']) mkdirSync(join(folder, `${name}-${number}`), { mode: 0o700 })
    symlinkSync(tree, join(folder, `lower-${number}`))
    noteRoot(overlayStorage(folder, number).root, tree)
    if (lstatSync(join(tree, '.git'), { throwIfNoEntry: false }) === undefined) continue
    const { repository, index, upper } = overlayStorage(folder, number)
    mkdirSync(repository, { mode: 0o700 })
    const kept = join(repository, '.git')
    const linked = await copyGitOf(tree, kept, index)
    // This directory replaces the `.git` file, as the mount point for the private git directory.
    if (linked !== undefined) mkdirSync(join(upper, '.git'))
    await linkNested(tree, kept, upper, () => undefined)
  }
  // In the overlay, the root of the tree has the mode and times of the upper directory. If these times were new, git would not trust its cached data
  // about the root.
  for (const [number, tree] of trees.entries()) {
    const { mode, atime, mtime } = statSync(tree)
    const { upper } = overlayStorage(folder, number)
    chmodSync(upper, mode & 0o777)
    utimesSync(upper, atime, mtime)
  }
  writeFileSync(join(folder, 'began'), '')
}

/**
 * Copies the git directory of a tree, without its objects, for an overlay over the tree.
 *
 * @param kept where the copy is made, with an index that fits the files as the overlay shows them
 * @param index where the index is copied as it is
 * @returns the git directories of the tree if its `.git` is a file that points to them
 */
export async function copyGitOf(tree: string, kept: string, index: string): Promise<GitDirectories | undefined> {
  const [git, linked] = [join(tree, '.git'), linkedGitOf(tree)]
  if (linked === undefined) await copyGit([{ from: Buffer.from(git), to: Buffer.from(kept) }], () => undefined)
  else await copyLinkedGit(linked, kept, () => undefined)
  const known = join(linked?.own ?? git, 'index')
  if (!existsSync(known)) return linked
  copyFileSync(known, index)
  const { atime, mtime, mtimeMs } = statSync(known)
  utimesSync(index, atime, new Date(Math.floor(mtimeMs)))
  writeFileSync(join(kept, 'index'), shownIndex(readFileSync(index)))
  // If the index were newer, git would overlook changes to files that are as new as the original index (see racy-git in git's documentation).
  utimesSync(join(kept, 'index'), atime, mtime)
  return linked
}

/** Creates the mount points of overlays, and removes those of runs that have ended. */
export function makeMountPoints(
  directory: string,
  { mounts }: Overlays,
  isRunning: (session: string) => boolean,
): void {
  const all = allMounted(directory)
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    if (name !== basename(directory) && !isRunning(join(dirname(directory), name))) removeMountPoints(join(all, name))
  }
  for (const mount of mounts) mkdirSync(mount, { recursive: true, mode: 0o700 })
}

function removeMountPoints(folder: string): void {
  try {
    for (const name of readdirSync(folder)) rmdirSync(join(folder, name))
    rmdirSync(folder)
  } catch {
    // The mount point is not empty, or is still in use. Leaving it does no harm.
  }
}
