import { readdirSync, renameSync, rmdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { CommitError, errnoOf } from './commit-error.ts'
import { pathOf, type Cleared, type Entry } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { attempt, find, removeDirectory } from './entries.ts'
import { mayStay, type Leftover } from './leftovers.ts'
import { isInside } from './resolve-path.ts'

/**
 * Moves a directory aside, together with its subdirectories. By now, these must be its only content. The directory stays aside until the commit is complete,
 * so that a rollback can move it back with all of its metadata, instead of creating a new one.
 *
 * @param cleared all directories that the commit moves aside
 * @throws CommitError `changed` if somebody has added an entry since the plan was made
 */
export function clear(path: string, aside: Entry, cleared: readonly Cleared[], directories: Directories): void {
  const inside = cleared.filter((one) => isInside(one.path, path))
  for (const one of inside) directories.forget(one.path)
  try {
    renameSync(directories.entry(dirname(path), basename(path)), directories.entry(aside.directory, aside.name))
  } catch (error) {
    if (errnoOf(error) !== 'EXDEV') throw error
    // On an overlay file system, a directory of a lower layer can't be renamed, but it can be removed.
    for (const one of inside.toReversed()) removeEmpty(one.path, directories)
    return
  }
  for (const one of inside) {
    const at = asideOf(one.path, path, aside)
    const names = readdirSync(directories.entry(dirname(at), basename(at)))
    if (names.some((name) => !inside.some((other) => other.path === join(one.path, name)))) throw notEmpty(one.path)
  }
}

/** The path that a directory has after `top`, which is the directory itself or one above it, was moved aside. */
function asideOf(path: string, top: string, aside: Entry): string {
  return join(pathOf(aside), path.slice(top.length))
}

function removeEmpty(path: string, directories: Directories): void {
  try {
    rmdirSync(directories.entry(dirname(path), basename(path)))
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error
    throw notEmpty(path)
  }
}

function notEmpty(path: string): CommitError {
  const differences = [{ path, key: path, how: 'content' as const }]
  return new CommitError('changed', { operation: 'remove', key: path, differences })
}

/**
 * Removes the directories that a complete commit has moved aside.
 *
 * @returns the directories that could not be removed, for example because somebody has put something into them in the meantime
 */
export function removeAside(cleared: readonly Cleared[], directories: Directories): readonly Leftover[] {
  return cleared.flatMap(({ path: top, aside }) => {
    if (aside === undefined) return []
    const paths = cleared.filter(({ path }) => isInside(path, top)).map(({ path }) => asideOf(path, top, aside))
    const left = paths.toReversed().flatMap((path) => removeDirectory(path, directories))
    if (left.length > 0) return left.map((each) => mayStay(each, 'an empty directory'))
    const isThere = (): 'changed' | undefined => (find(aside, directories) === undefined ? undefined : 'changed')
    return attempt(aside, isThere).map((each) => ({
      ...each,
      stays: 'a directory into which somebody has put something',
    }))
  })
}
