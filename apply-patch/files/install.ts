import { linkSync, lstatSync, mkdirSync, readlinkSync, renameSync, rmdirSync, symlinkSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { Change, FileState } from '../change-set.ts'
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
import { copyOld, writeFresh } from './write-fresh.ts'

/** What is at work, so that a failing system call can be laid at the right file's door. */
export type CurrentOperation = { operation: Operation; change: Change | undefined }

/** What turned out on the way. */
type Progress = {
  /** New files are renamed into place, links not being possible. */
  linkless: boolean
  /** Steps whose old file is kept as a copy, for the same reason. */
  readonly copied: Set<JournalEntry>
}

/** A commit under way. */
export type Work = {
  readonly steps: readonly Step[]
  /** Directories to make, parents first. */
  readonly made: readonly string[]
  /** Directories that give way to files, parents first. */
  readonly cleared: readonly Cleared[]
  readonly directories: Directories
  /** Files that are there while it is under way. */
  readonly locks: readonly LockEntry[]
  readonly journal: Journal
  readonly durable: boolean
  readonly current: CurrentOperation
  readonly progress: Progress
  /** Lets others run when it is time to. @throws CommitError `aborted` */
  readonly pause: () => Promise<void> | undefined
}

/** Errors of `link` on file systems without hard links, and for files that others own (`protected_hardlinks`). */
const noLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EXDEV'])

/** Writes all new content under names of ours. Nothing that was in the tree is touched. */
export async function prepareAll(work: Work): Promise<void> {
  for (const step of work.steps) {
    await work.pause()
    if (step.type === 'remove' || step.renamed !== undefined) continue
    Object.assign(work.current, { operation: 'write', change: step.change })
    writeFresh(step.change, step.journalEntry.fresh, work.directories, work.durable)
  }
}

/**
 * Puts everything in its place: renamed files get their second name, what goes is put aside, what is replaced gets a
 * second name, directories are made, new content is installed. All of it can still be taken back by renaming.
 *
 * @param sync called when everything old is kept and nothing new is in place: what a power cut must find
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
  for (const { path } of work.cleared.toReversed()) clear(path, work)
  for (const directory of work.made) {
    Object.assign(current, { operation: 'make-directory', change: undefined })
    mkdirSync(directories.entry(dirname(directory), basename(directory)))
  }
  for (const step of steps) {
    if (step.type === 'remove') continue
    await work.pause()
    Object.assign(current, { operation: 'write', change: step.change })
    if (step.journalEntry.type === 'add') installNew(step.change, step.journalEntry, work)
    else renameSync(at(step.journalEntry.fresh, directories), at(step.journalEntry.target, directories))
  }
}

/** Removes a directory that must be empty by now; what else is in it came after the plan. */
function clear(path: string, { directories, current }: Work): void {
  Object.assign(current, { operation: 'remove', change: undefined })
  directories.forget(path)
  try {
    rmdirSync(directories.entry(dirname(path), basename(path)))
  } catch (error) {
    if (errnoOf(error) !== 'ENOTEMPTY' && errnoOf(error) !== 'EEXIST') throw error
    throw new CommitError('changed', {
      operation: 'remove',
      key: path,
      differences: [{ path, key: path, how: 'content' }],
    })
  }
}

/** A pure rename: the very file gets a second name of ours, or a copy where it can't. */
function linkRenamed(change: WriteChange, source: Entry, journalEntry: InstallEntry, work: Work): void {
  try {
    linkSync(at(source, work.directories), at(journalEntry.fresh, work.directories))
  } catch (error) {
    if (!noLinks.has(errnoOf(error) ?? '')) throw error
    writeFresh(change, journalEntry.fresh, work.directories, work.durable)
  }
}

/** A link can't overwrite a file that appeared meanwhile, as a rename would. */
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

/** A file to be replaced gets a second name of ours, or a copy where it can't, so that it can come back whole. */
function keepOld(change: WriteChange, journalEntry: Extract<InstallEntry, { type: 'replace' }>, work: Work): void {
  const { directories, durable, progress } = work
  try {
    linkSync(at(journalEntry.target, directories), at(journalEntry.old, directories))
  } catch (error) {
    if (!noLinks.has(errnoOf(error) ?? '')) throw error
    progress.copied.add(journalEntry)
    if (change.before.type === 'file') copyOld(change.before, journalEntry.old, directories, durable)
    if (change.before.type === 'symlink') symlinkSync(change.before.target, at(journalEntry.old, directories))
  }
}

/**
 * Refuses when what was put aside isn't what the plan was made from: somebody wrote between the check and now. The
 * change time has moved by our own link or rename, so it isn't compared.
 */
export function checkOld(change: WriteChange | RemoveChange, old: Entry, directories: Directories): void {
  const how = differenceOf(change.before, at(old, directories))
  if (how !== undefined) throw changed(change, how)
}

function changed(change: Change, how: Difference, cause?: unknown): CommitError {
  const { path, key } = change.place
  return new CommitError('changed', { operation: change.type, path, key, differences: [{ path, key, how }], cause })
}

function differenceOf(before: FileState, path: string): Difference | undefined {
  if (before.type === 'other' || before.type === 'absent' || before.type === 'directory') return undefined
  const stats = lstatSync(path, { bigint: true })
  if (stats.dev !== before.device || stats.ino !== before.inode) return 'identity'
  if (before.type === 'symlink') return readlinkSync(path) === before.target ? undefined : 'content'
  if (stats.size !== BigInt(before.bytes.length)) return 'size'
  return stats.mtimeNs === before.modifiedNs ? undefined : 'time'
}

function at(entry: Entry, directories: Directories): string {
  return directories.entry(entry.directory, entry.name)
}
