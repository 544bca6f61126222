import { linkSync, lstatSync, mkdirSync, renameSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Change } from '../change-set.ts'
import type { KeptAttributes, LostAttributes } from './attributes.ts'
import { findLaterDifference } from './check-unchanged.ts'
import type { Directories } from './directories.ts'
import { CommitError, errnoOf, type Difference, type Operation } from './commit-error.ts'
import type { Journal } from './journal.ts'
import type {
  Cleared,
  Entry,
  InstallEntry,
  RemoveChange,
  Step,
  JournalEntry,
  LockEntry,
  WriteChange,
} from './commit-steps.ts'
import { makeLink } from './link-target.ts'
import { proveRemovable } from './prove-removable.ts'
import { clear } from './clear-directory.ts'
import { copyOld, writeFresh } from './write-fresh.ts'

/** The current operation, so that the error for a failing system call names the right file. */
export type CurrentOperation = { operation: Operation; change: Change | undefined }

/** Facts that become known only during the installation. */
type Progress = {
  /** Whether new files are renamed into place, because hard links are not possible. */
  linkless: boolean
  /** Steps whose old file is kept as a copy, because hard links are not possible. */
  readonly copied: Set<JournalEntry>
}

/** A commit that is being carried out. */
export type Work = {
  readonly steps: readonly Step[]
  /** Directories to create, parents first. */
  readonly made: readonly string[]
  /** Directories that are moved aside or removed because files replace them, parents first. */
  readonly cleared: readonly Cleared[]
  readonly directories: Directories
  /** Lock files, which exist while the commit runs. */
  readonly locks: readonly LockEntry[]
  readonly journal: Journal
  readonly durable: boolean
  readonly current: CurrentOperation
  /** Directories in which this user is known to be allowed to remove and rename entries. */
  readonly proven: Set<string>
  readonly progress: Progress
  /** The extended attributes of the old files. */
  readonly attributes: KeptAttributes
  /** Lets other tasks run if the commit has been running for a while without a pause. @throws CommitError `aborted` */
  readonly pause: () => Promise<void> | undefined
}

/** The errors that `link` fails with if no hard link is possible, as on some file systems or for other users' files (`protected_hardlinks`). */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Writes all new content under temporary names. Existing files stay untouched. @returns the files whose attributes could not be kept */
export async function prepareAll(work: Work): Promise<readonly LostAttributes[]> {
  const modes = new Map<Step, number>()
  for (const step of work.steps) {
    await work.pause()
    if (step.type === 'remove' || step.renamed !== undefined) continue
    Object.assign(work.current, { operation: 'write', change: step.change })
    const isHeld = work.attributes.isHeld(step)
    const mode = writeFresh(step.change, step.journalEntry, work.directories, work.durable, isHeld)
    if (isHeld && mode !== undefined) modes.set(step, mode)
    proveFirst(step.journalEntry, step.change, work)
  }
  return work.attributes.give(modes, work.durable)
}

/** In a directory from which the commit removes nothing, the first temporary file shows whether temporary files can be removed again. */
function proveFirst({ fresh }: InstallEntry, change: WriteChange, { directories, proven }: Work): void {
  if (!proven.has(fresh.directory)) proveRemovable(fresh, change, directories, proven)
}

/**
 * Installs all changes: renamed files and replaced files get a second name, removed files are moved aside, directories are removed and created, and
 * the new content gets its final names. All of this can still be undone by renaming.
 *
 * @param sync called when all old files are kept under other names and no new file is in place yet; it can write this state to the disk, in case of a power cut
 */
export async function installAll(work: Work, sync: () => void): Promise<void> {
  const { steps, directories, current } = work
  for (const step of steps) {
    if (step.type === 'remove' || step.renamed === undefined) continue
    Object.assign(current, { operation: 'write', change: step.change })
    linkRenamed(step.change, step.renamed, step.journalEntry, work)
  }
  for (const step of steps) {
    if (step.type !== 'remove') continue
    await work.pause()
    Object.assign(current, { operation: 'remove', change: step.change })
    renameSync(at(step.journalEntry.target, directories), at(step.journalEntry.old, directories))
  }
  for (const step of steps) {
    if (step.type === 'remove' || step.journalEntry.type !== 'replace') continue
    await work.pause()
    Object.assign(current, { operation: 'write', change: step.change })
    keepOld(step.change, step.journalEntry, work)
  }
  sync()
  Object.assign(current, { operation: 'remove', change: undefined })
  for (const { path, aside } of work.cleared) if (aside !== undefined) clear(path, aside, work.cleared, directories)
  for (const directory of work.made) {
    Object.assign(current, { operation: 'make-directory', change: undefined })
    mkdirSync(directories.entry(dirname(directory), basename(directory)))
  }
  for (const step of steps) {
    if (step.type === 'remove') continue
    await work.pause()
    Object.assign(current, { operation: 'write', change: step.change })
    if (step.journalEntry.type === 'add') installNew(step.change, step.journalEntry, work)
    else installOver(step.change, step.journalEntry, work)
  }
}

/** Prepares a pure rename: the file itself gets a temporary second name, or is copied if hard links are not possible. */
function linkRenamed(change: WriteChange, source: Entry, journalEntry: InstallEntry, work: Work): void {
  try {
    linkSync(at(source, work.directories), at(journalEntry.fresh, work.directories))
  } catch (error) {
    if (!noLinks.has(errnoOf(error) ?? '')) throw error
    writeFresh(change, journalEntry, work.directories, work.durable)
  }
  proveFirst(journalEntry, change, work)
}

/** Installs a new file with a hard link if possible: unlike a rename, a link can't overwrite a file that appeared in the meantime. */
function installNew(change: WriteChange, journalEntry: InstallEntry, work: Work): void {
  const { directories, journal, durable, progress } = work
  try {
    linkSync(at(journalEntry.fresh, directories), at(journalEntry.target, directories))
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') throw changed(change, 'appeared', error)
    if (!noLinks.has(errnoOf(error) ?? '')) throw error
    const present = lstatSync(at(journalEntry.target, directories), { throwIfNoEntry: false }) !== undefined
    if (present) throw changed(change, 'appeared', error)
    if (!progress.linkless) journal.markLinkless(durable)
    progress.linkless = true
    renameSync(at(journalEntry.fresh, directories), at(journalEntry.target, directories))
  }
}

/**
 * Installs the new version of an existing file. A rename can't be limited to the file that was checked, so the file is checked immediately before: a
 * program may have saved another one under its name since the old one was kept.
 */
function installOver(change: WriteChange, journalEntry: InstallEntry, { directories }: Work): void {
  const target = at(journalEntry.target, directories)
  const how = findLaterDifference(change.before, target)
  if (how !== undefined) throw changed(change, how)
  renameSync(at(journalEntry.fresh, directories), target)
}

/**
 * Keeps the file that is about to be replaced, so that it can be restored completely: gives it a temporary second name, or copies it if hard links
 * are not possible.
 */
function keepOld(change: WriteChange, journalEntry: Extract<InstallEntry, { type: 'replace' }>, work: Work): void {
  const { directories, durable, progress } = work
  try {
    linkSync(at(journalEntry.target, directories), at(journalEntry.old, directories))
  } catch (error) {
    if (!noLinks.has(errnoOf(error) ?? '')) throw error
    progress.copied.add(journalEntry)
    if (change.before.type === 'file')
      copyOld([change.before.bytes], change.before, journalEntry.old, directories, durable)
    if (change.before.type === 'unread') {
      const pieces = [{ file: at(journalEntry.target, directories), start: 0, length: change.before.size }]
      copyOld(pieces, change.before, journalEntry.old, directories, durable)
    }
    if (change.before.type === 'symlink') makeLink(change.before.target, at(journalEntry.old, directories))
  }
}

/**
 * Refuses to continue if an old file that is kept under a temporary name has been changed by another program since it was first checked. The change
 * time isn't compared, because the commit itself changed it by linking or renaming the file.
 */
export function checkOld(change: WriteChange | RemoveChange, old: Entry, directories: Directories): void {
  const how = findLaterDifference(change.before, at(old, directories))
  if (how !== undefined) throw changed(change, how)
}

function changed(change: Change, how: Difference, cause?: unknown): CommitError {
  const { path, key } = change.place
  return new CommitError('changed', { operation: change.type, path, key, differences: [{ path, key, how }], cause })
}

function at(entry: Entry, directories: Directories): string {
  return directories.entry(entry.directory, entry.name)
}
