import { lstatSync, rmdirSync } from 'node:fs'
import process from 'node:process'
import type { Change } from '../change-set.ts'
import { CommitError, errnoOf, type CommitFacts } from './commit-error.ts'
import { pathOf, type Entry } from './commit-steps.ts'
import type { Directories } from './directories.ts'

/** The errors that mean that this user may not remove or rename an entry. */
const refused: ReadonlySet<string> = new Set(['EPERM', 'EACCES', 'EROFS'])

/**
 * Proves that this user may remove and rename a file or link. In a sticky directory or an append-only one, a user may create temporary files that could
 * then be neither renamed nor removed, so a commit must know this before it creates any.
 *
 * The file is removed as if it were a directory. This always fails, but only after the system has checked the permission. Unless the directory is
 * sticky and belongs to another user, the check of one entry is proof for all entries of the directory.
 *
 * @param proven the directories for which there is proof; the entry's directory is added
 * @throws CommitError `system`
 */
export function proveRemovable(
  entry: Entry,
  change: Change | undefined,
  directories: Directories,
  proven: Set<string>,
): void {
  const { guards } = directories.owner(entry.directory)
  if (proven.has(entry.directory) && !guards) return
  try {
    rmdirSync(directories.entry(entry.directory, entry.name))
  } catch (error) {
    const errno = errnoOf(error)
    if (errno === undefined) throw error
    if (refused.has(errno)) {
      throw failure(entry, change, { errno, ...(errno === 'EPERM' ? { held: guards ? 'sticky' : 'fixed' } : {}) })
    }
  }
  proven.add(entry.directory)
}

/**
 * Proves that an entry that is moved to another directory may be moved back from there.
 *
 * @param to the directory to which the entry is moved
 * @throws CommitError `system`
 */
export function proveMovable(entry: Entry, to: string, change: Change | undefined, directories: Directories): void {
  if (!directories.owner(to).guards || process.geteuid?.() === 0) return
  const stats = lstatSync(directories.entry(entry.directory, entry.name), { throwIfNoEntry: false })
  if (stats === undefined || stats.uid === process.geteuid?.()) return
  throw failure(entry, change, { errno: 'EPERM', held: 'sticky' })
}

function failure(entry: Entry, change: Change | undefined, facts: CommitFacts): CommitError {
  const { path, key } = change?.place ?? { path: pathOf(entry), key: pathOf(entry) }
  return new CommitError('system', { operation: change?.type ?? 'remove', path, key, ...facts })
}
