import { chmodSync, lchownSync, mkdirSync, renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { releaseLocks } from './clean-up.ts'
import { pathOf, type Cleared, type Entry, type JournalEntry, type LockEntry, type Times } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { restoreTimes } from './directory-times.ts'
import { at, attempt, find, isSame, matches, remove, removeDirectory, removeOurs } from './entries.ts'
import type { Leftover } from './leftovers.ts'

/** What a commit may have done so far. */
type Begun = {
  readonly journalEntries: readonly JournalEntry[]
  /** Directories that the commit creates, parents first. */
  readonly made: readonly string[]
  /** Directories that the commit moves aside, parents first. */
  readonly cleared: readonly Cleared[]
  /** Whether new files were renamed into place, because hard links are not possible in this file system. */
  readonly linkless: boolean
  /** The times of the directories in which the commit changes entries. */
  readonly times: readonly Times[]
  /** Lock files, which are removed last. */
  readonly locks: readonly LockEntry[]
}

/**
 * Rolls back a commit that has not passed its point of no return, using only the evidence in the tree (see `JournalEntry`), so that the same code
 * handles a failure, a crash at any system call, and a crash during a rollback. It copies no bytes: it only renames and removes entries, so it
 * needs hardly any disk space. It restores the times of directories. It doesn't touch files that another program has changed since the commit began.
 *
 * @returns the files that could not be restored; empty if the tree is as before. If all of them are entries that stay (see `Leftover`), the rest of the tree
 *   is as before
 */
export function rollBack(begun: Begun, directories: Directories): readonly Leftover[] {
  const backwards = begun.journalEntries.toReversed()
  const pass = (): readonly Leftover[] => [
    ...backwards.flatMap((journalEntry) =>
      journalEntry.type === 'remove' ? [] : undo(journalEntry, begun, directories),
    ),
    ...begun.made.toReversed().flatMap((directory) => removeDirectory(directory, directories)),
    ...begun.cleared.flatMap((directory) => putBack(directory, directories)),
    ...backwards.flatMap((journalEntry) =>
      journalEntry.type === 'remove' ? undo(journalEntry, begun, directories) : [],
    ),
    ...releaseLocks(begun.locks, directories),
  ]
  // A failure may be temporary (a full queue, an interrupted call), so the whole pass is repeated once.
  const remains = pass().length === 0 ? [] : pass()
  restoreTimes(begun.times, directories)
  return remains
}

function undo(journalEntry: JournalEntry, begun: Begun, directories: Directories): readonly Leftover[] {
  switch (journalEntry.type) {
    case 'add':
      return undoAdd(journalEntry, begun.linkless, directories)
    case 'replace':
      return undoReplace(journalEntry, directories)
    case 'remove':
      return attempt(journalEntry.target, () => undoRemove(journalEntry, directories))
    default:
      return journalEntry satisfies never
  }
}

function undoAdd(
  { target, fresh, fingerprint }: Extract<JournalEntry, { type: 'add' }>,
  linkless: boolean,
  directories: Directories,
): readonly Leftover[] {
  const left = attempt(target, () => {
    const [ours, found] = [find(fresh, directories), find(target, directories)]
    // If the file was renamed into place, only its content shows whether this commit created it.
    const isOurs =
      found !== undefined &&
      (ours === undefined ? linkless && matches(fingerprint, found, target, directories) : isSame(ours, found))
    return isOurs ? remove(target, directories) : undefined
  })
  return left.length > 0 ? left : removeOurs(fresh, directories)
}

function undoReplace(
  { target, fresh, old, fingerprint }: Extract<JournalEntry, { type: 'replace' }>,
  directories: Directories,
): readonly Leftover[] {
  let [isIntact, hasFresh] = [false, false]
  const left = attempt(target, () => {
    const [kept, found] = [find(old, directories), find(target, directories)]
    hasFresh = find(fresh, directories) !== undefined
    const installed = kept !== undefined && !hasFresh
    isIntact = !installed || (found !== undefined && isSame(kept, found))
    if (isIntact) return undefined
    if (found !== undefined && !matches(fingerprint, found, target, directories)) return 'changed'
    renameSync(at(old, directories), at(target, directories))
    return undefined
  })
  if (!isIntact) return left
  // The new content is removed last: if it were missing while the old file is kept, a later rollback would assume that the new file is installed.
  const kept = removeOurs(old, directories)
  if (kept.length === 0) return removeOurs(fresh, directories)
  return [...kept, ...(hasFresh ? kept.map((each) => ({ ...each, path: pathOf(fresh) })) : [])]
}

function undoRemove(
  journalEntry: Extract<JournalEntry, { type: 'remove' }>,
  directories: Directories,
): 'changed' | undefined {
  if (find(journalEntry.old, directories) === undefined) return undefined
  if (find(journalEntry.target, directories) !== undefined) return 'changed'
  renameSync(at(journalEntry.old, directories), at(journalEntry.target, directories))
  return undefined
}

/** Moves a directory back that was moved aside, or creates a removed one again. An existing directory is not an error. */
function putBack(cleared: Cleared, directories: Directories): readonly Leftover[] {
  const { path, aside } = cleared
  const entry = { directory: dirname(path), name: basename(path) }
  return attempt(entry, () => {
    if (aside === undefined || find(aside, directories) === undefined) return makeAgain(cleared, entry, directories)
    if (find(entry, directories) !== undefined) return 'changed'
    renameSync(at(aside, directories), at(entry, directories))
    return undefined
  })
}

function makeAgain({ mode, uid, gid }: Cleared, entry: Entry, directories: Directories): undefined {
  if (find(entry, directories)?.isDirectory() === true) return
  mkdirSync(at(entry, directories))
  const made = find(entry, directories)
  if (Number(made?.uid) !== uid || Number(made?.gid) !== gid) lchownSync(at(entry, directories), uid, gid)
  chmodSync(at(entry, directories), mode)
}
