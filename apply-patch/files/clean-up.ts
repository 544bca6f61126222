import { chmodSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { removeAside } from './clear-directory.ts'
import type { Cleared, Entry, LockEntry, ModeStep } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { at, attempt, find, matches, remove, removeDirectory, removeOurs } from './entries.ts'
import { mayStay, type Leftover } from './leftovers.ts'

/**
 * Cleans up after a completed commit: removes the files and directories that it kept for its rollback and the directories that are now empty,
 * and sets the modes of directories.
 *
 * @param ours entries with temporary names of the commit; a missing entry is not an error
 * @param emptied directories to remove too if they are empty
 * @param modes directories whose modes are set, parents first. The modes are set last, because a mode may forbid the other steps
 * @param cleared directories that the commit moved aside
 * @returns the entries that could not be removed and the directories whose mode could not be set
 */
export function cleanUp(
  ours: readonly Entry[],
  emptied: readonly string[],
  modes: readonly ModeStep[],
  cleared: readonly Cleared[],
  directories: Directories,
): Leftover[] {
  const pass = (): Leftover[] => [
    ...ours.flatMap((entry) => removeOurs(entry, directories)),
    ...emptied
      .toReversed()
      .flatMap((directory) =>
        removeDirectory(directory, directories).map((each) => mayStay(each, 'an empty directory')),
      ),
    ...removeAside(cleared, directories),
    ...modes.toReversed().flatMap((step) => setMode(step, directories)),
  ]
  return pass().length === 0 ? [] : pass()
}

/** Gives a directory its new mode, unless another program has changed the mode. */
function setMode({ path, before, after }: ModeStep, directories: Directories): readonly Leftover[] {
  const entry = { directory: dirname(path), name: basename(path) }
  return attempt(entry, () => {
    const found = find(entry, directories)
    const mode = Number(found?.mode ?? 0) & 0o7777
    if (found?.isDirectory() === true && mode !== after && (before === undefined || mode === before)) {
      chmodSync(at(entry, directories), after)
    }
    return undefined
  })
}

/**
 * Removes the lock files that this commit created, which it recognizes by their content. Lock files of other programs stay.
 * @returns the files that could not be removed
 */
export function releaseLocks(locks: readonly LockEntry[], directories: Directories): readonly Leftover[] {
  return locks.flatMap((lock) =>
    attempt(lock.target, () => {
      const found = find(lock.target, directories)
      const isOurs = found !== undefined && matches(lock.fingerprint, found, lock.target, directories)
      if (isOurs) remove(lock.target, directories)
      return remove(lock.fresh, directories)
    }),
  )
}
