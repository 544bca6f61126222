import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  unlinkSync,
  type BigIntStats,
} from 'node:fs'
import { basename, dirname } from 'node:path'
import { crcOf } from './read-state.ts'
import type { Directories } from './directories.ts'
import { errnoOf } from './commit-error.ts'
import {
  pathOf,
  type Cleared,
  type Entry,
  type Fingerprint,
  type JournalEntry,
  type LockEntry,
  type ModeStep,
} from './commit-steps.ts'
import { mayStay, type Leftover } from './leftovers.ts'

/** What a commit may have done so far. */
type Begun = {
  readonly journalEntries: readonly JournalEntry[]
  /** Directories that the commit creates, parents first. */
  readonly made: readonly string[]
  /** Directories that the commit removes, parents first. */
  readonly cleared: readonly Cleared[]
  /** Whether new files were renamed into place, because hard links are not possible in this file system. */
  readonly linkless: boolean
  /** Lock files, which are removed last. */
  readonly locks: readonly LockEntry[]
}

/**
 * Rolls back a commit that has not passed its point of no return, using only the evidence in the tree (see `JournalEntry`), so that the same code
 * handles a failure, a crash at any system call, and a crash during a rollback. It copies no bytes: it only renames and removes entries, and creates
 * removed directories again, so it needs hardly any disk space. It doesn't touch files that another program has changed since the commit began.
 *
 * @returns the files that could not be restored; empty if the tree is as before
 */
export function rollBack(begun: Begun, directories: Directories): readonly Leftover[] {
  const backwards = begun.journalEntries.toReversed()
  const pass = (): readonly Leftover[] => [
    ...backwards.flatMap((journalEntry) =>
      journalEntry.type === 'remove' ? [] : undo(journalEntry, begun, directories),
    ),
    ...begun.made.toReversed().flatMap((directory) => removeDirectory(directory, directories)),
    ...begun.cleared.flatMap((directory) => makeAgain(directory, directories)),
    ...backwards.flatMap((journalEntry) =>
      journalEntry.type === 'remove' ? undo(journalEntry, begun, directories) : [],
    ),
    ...releaseLocks(begun.locks, directories),
  ]
  // A failure may be temporary (a full queue, an interrupted call), so the whole pass is repeated once.
  return pass().length === 0 ? [] : pass()
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

/**
 * Cleans up after a completed commit: removes the files that it kept for its rollback and the directories that are now empty, and sets the modes of
 * directories.
 *
 * @param ours entries with temporary names of the commit; a missing entry is not an error
 * @param emptied directories to remove too if they are empty
 * @param modes directories whose modes are set, parents first. The modes are set last, because a mode may forbid the other steps
 * @returns the entries that could not be removed and the directories whose mode could not be set
 */
export function cleanUp(
  ours: readonly Entry[],
  emptied: readonly string[],
  modes: readonly ModeStep[],
  directories: Directories,
): Leftover[] {
  const pass = (): Leftover[] => [
    ...ours.flatMap((entry) => attempt(entry, () => remove(entry, directories))),
    ...emptied.toReversed().flatMap((directory) => removeDirectory(directory, directories).map(mayStay)),
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

function undo(journalEntry: JournalEntry, begun: Begun, directories: Directories): readonly Leftover[] {
  switch (journalEntry.type) {
    case 'add':
      return attempt(journalEntry.target, () => undoAdd(journalEntry, begun.linkless, directories))
    case 'replace':
      return attempt(journalEntry.target, () => undoReplace(journalEntry, directories))
    case 'remove':
      return attempt(journalEntry.target, () => undoRemove(journalEntry, directories))
    default:
      return journalEntry satisfies never
  }
}

function undoAdd(
  journalEntry: Extract<JournalEntry, { type: 'add' }>,
  linkless: boolean,
  directories: Directories,
): undefined {
  const fresh = find(journalEntry.fresh, directories)
  const target = find(journalEntry.target, directories)
  if (fresh === undefined) {
    // The file was renamed into place, so only its content shows whether this commit created it.
    const isOurs =
      linkless && target !== undefined && matches(journalEntry.fingerprint, target, journalEntry.target, directories)
    if (isOurs) remove(journalEntry.target, directories)
    return
  }
  if (target !== undefined && isSame(fresh, target)) remove(journalEntry.target, directories)
  remove(journalEntry.fresh, directories)
}

function undoReplace(
  journalEntry: Extract<JournalEntry, { type: 'replace' }>,
  directories: Directories,
): 'changed' | undefined {
  const old = find(journalEntry.old, directories)
  const target = find(journalEntry.target, directories)
  const installed = old !== undefined && find(journalEntry.fresh, directories) === undefined
  if (installed && (target === undefined || !isSame(old, target))) {
    if (target !== undefined && !matches(journalEntry.fingerprint, target, journalEntry.target, directories))
      return 'changed'
    renameSync(at(journalEntry.old, directories), at(journalEntry.target, directories))
    return undefined
  }
  remove(journalEntry.fresh, directories)
  remove(journalEntry.old, directories)
  return undefined
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

/** Whether an entry is still as the patch left it. */
function matches(fingerprint: Fingerprint, stats: BigIntStats, entry: Entry, directories: Directories): boolean {
  if (fingerprint.symlink !== undefined) {
    return stats.isSymbolicLink() && readlinkSync(at(entry, directories)) === fingerprint.symlink
  }
  if (!stats.isFile() || stats.size !== BigInt(fingerprint.size)) return false
  return crcOf(at(entry, directories), fingerprint.size) === fingerprint.crc
}

/** The result of `lstat` for an entry; undefined if the entry, or its directory, is missing. */
function find(entry: Entry, directories: Directories): BigIntStats | undefined {
  try {
    return lstatSync(at(entry, directories), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

/** Removes an entry. A missing entry is not an error. */
function remove(entry: Entry, directories: Directories): undefined {
  try {
    unlinkSync(at(entry, directories))
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT' && errnoOf(error) !== 'ENOTDIR') throw error
  }
}

/** Removes a directory that the commit created or emptied. If it contains entries, it stays, because other programs must have added them. */
function removeDirectory(path: string, directories: Directories): readonly Leftover[] {
  const entry = { directory: dirname(path), name: basename(path) }
  directories.forget(path)
  return attempt(entry, () => {
    try {
      rmdirSync(at(entry, directories))
    } catch (error) {
      const errno = errnoOf(error) ?? ''
      if (!['ENOENT', 'ENOTDIR', 'ENOTEMPTY', 'EEXIST'].includes(errno)) throw error
    }
    return undefined
  })
}

/** Creates a removed directory again. An existing directory is not an error. */
function makeAgain({ path, mode, uid, gid }: Cleared, directories: Directories): readonly Leftover[] {
  const entry = { directory: dirname(path), name: basename(path) }
  return attempt(entry, () => {
    if (find(entry, directories)?.isDirectory() === true) return undefined
    mkdirSync(at(entry, directories))
    const made = find(entry, directories)
    if (Number(made?.uid) !== uid || Number(made?.gid) !== gid) lchownSync(at(entry, directories), uid, gid)
    chmodSync(at(entry, directories), mode)
    return undefined
  })
}

function attempt(entry: Entry, act: () => 'changed' | undefined): readonly Leftover[] {
  try {
    const result = act()
    return result === undefined ? [] : [{ path: pathOf(entry), reason: result }]
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    return [{ path: pathOf(entry), reason: errno }]
  }
}

function at(entry: Entry, directories: Directories): string {
  return directories.entry(entry.directory, entry.name)
}

function isSame(one: BigIntStats, other: BigIntStats): boolean {
  return one.dev === other.dev && one.ino === other.ino
}
