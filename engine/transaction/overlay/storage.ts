import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { shownIndex, type Overlays } from '../../../sandbox/index.ts'
import { copyGitDirectory } from '../copy-git.ts'
import { copyLinkedGit, linkedGitOf, linkNested } from '../linked-git.ts'

/** Where one tree's overlay is kept: what lies below it, what was written above that, and git's index as it was at the beginning. */
export type OverlayStorage = {
  readonly upper: string
  readonly index: string
  /** What holds the private git directory, as a work tree does. Absent where the tree had none. */
  readonly repository: string
  /** A file that was made when the view was: whatever has a later change time was changed since. */
  readonly began: string
}

/** Where the overlay of a view's tree with this number is kept. */
export function overlayStorage(folder: string, number: number): OverlayStorage {
  const at = (name: string): string => join(folder, `${name}-${number}`)
  return { upper: at('upper'), index: at('index'), repository: at('repository'), began: join(folder, 'began') }
}

/** What is mounted for a session's view, and where: outside of the session's folder, which can be removed then while they are mounted. */
export function overlaysOf(directory: string, folder: string, trees: number): Overlays {
  const mounted = mountFolder(directory)
  return { directory: folder, mounts: Array.from({ length: trees }, (_, number) => join(mounted, `${number}`)) }
}

const allMounted = (directory: string): string => join(dirname(dirname(directory)), 'mounted')
const mountFolder = (directory: string): string => join(allMounted(directory), basename(directory))

/**
 * Makes what overlays of these trees are kept in. A tree's git directory is a copy without objects, as in a view that is copied; all else lies
 * below.
 *
 * @param folder a directory that is there
 */
export function makeOverlayStorage(folder: string, trees: readonly string[]): void {
  for (const [number, tree] of trees.entries()) {
    for (const name of ['upper', 'work']) mkdirSync(join(folder, `${name}-${number}`), { mode: 0o700 })
    symlinkSync(tree, join(folder, `lower-${number}`))
    const git = join(tree, '.git')
    if (lstatSync(git, { throwIfNoEntry: false }) === undefined) continue
    const { repository, index, upper } = overlayStorage(folder, number)
    mkdirSync(repository, { mode: 0o700 })
    const [kept, linked] = [join(repository, '.git'), linkedGitOf(tree)]
    if (linked === undefined) copyGitDirectory(Buffer.from(git), Buffer.from(kept), () => undefined)
    else {
      copyLinkedGit(linked, kept, () => undefined)
      // In place of the file, for the private directory to be mounted on.
      mkdirSync(join(upper, '.git'))
    }
    linkNested(tree, kept, upper, () => undefined)
    const known = join(linked?.own ?? git, 'index')
    if (!existsSync(known)) continue
    copyFileSync(known, index)
    const written = Math.floor(statSync(known).mtimeMs / 1000)
    writeFileSync(join(kept, 'index'), shownIndex(readFileSync(index), written))
  }
  writeFileSync(join(folder, 'began'), '')
}

/** Makes the directories that overlays are mounted at, and removes those of runs that are over. */
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
    // Not empty, or mounted here: then it is in nobody's way.
  }
}
