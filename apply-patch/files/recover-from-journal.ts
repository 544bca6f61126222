import { unlinkSync } from 'node:fs'
import { baseOf } from './alongside.ts'
import { openDirectories, type Directories } from './directories.ts'
import { CommitError, errnoOf } from './commit-error.ts'
import type { JournalEntry } from './commit-steps.ts'
import { identityOf, isSameDirectory } from './directory-identity.ts'
import type { Header } from './journal.ts'
import { keepRecovered } from './keep-journal.ts'
import { isInside } from './resolve-path.ts'
import { readJournal, type ReadJournal } from './read-journal.ts'
import { isUnfinished, type Leftover } from './leftovers.ts'
import { cleanUp, releaseLocks } from './clean-up.ts'
import { rollBack } from './roll-back.ts'

/** The outcome for one crashed commit. */
export type RecoveryReport = {
  readonly root: string
  /** When the commit began, according to its journal; undefined if the journal was not completely written, or the commit was abandoned. */
  readonly at: Date | undefined
  /**
   * `rolled-back`: the patch is not applied. `completed`: the patch is applied. `nothing-to-do`: the commit had not begun. `obsolete`: the tree was removed or
   * replaced. `abandoned`: the commit could not be recovered, and was given up.
   */
  readonly outcome: 'rolled-back' | 'completed' | 'nothing-to-do' | 'obsolete' | 'abandoned'
  /** The paths, as the patch spells them; for an abandoned commit, the absolute paths of the files that could not be restored. */
  readonly paths: readonly string[]
  /** Temporary files and empty directories that could not be removed and do no harm, as absolute paths. Absent: none. */
  readonly leftOver?: readonly string[]
}

/**
 * Recovers an unfinished commit: if it has passed its point of no return, it is completed, otherwise it is rolled back. If this succeeds, the journal is
 * removed or, if the commit is complete and can be undone, kept for `undo`. Call it only while the tree is locked.
 *
 * @param root the tree to which the journal must belong; undefined if it may belong to any tree
 * @returns undefined if the journal belongs to another tree or no longer exists
 * @throws CommitError `unrecoverable` if the journal can't be read or names paths outside its tree, or if files can't be restored (`remains`
 *   names them); the journal stays
 */
export async function recoverFromJournal(
  journal: string,
  root: string | undefined,
): Promise<RecoveryReport | undefined> {
  const read = await readIfThere(journal)
  if (read === undefined) return undefined
  if (read.state === 'not-begun') {
    unlinkSync(journal)
    return { root: root ?? '', at: undefined, outcome: 'nothing-to-do', paths: [] }
  }
  const { header, state } = read
  if (root !== undefined && header.root !== root) return undefined
  const report = { root: header.root, at: new Date(header.at), paths: header.steps.map(({ path }) => path) }
  if (!isSameTree(header)) {
    unlinkSync(journal)
    return { ...report, outcome: 'obsolete' }
  }
  checkConfined(header, journal)
  const directories = openDirectories(baseOf(header, header.alongside))
  const leftOver: string[] = []
  try {
    const journalEntries = entriesOf(header)
    const locks = header.alongside?.locks ?? []
    const remains =
      state === 'begun'
        ? takeBack(header, read.linkless, directories)
        : [
            ...cleanUp(
              journalEntries.flatMap((journalEntry) =>
                journalEntry.type === 'add'
                  ? [journalEntry.fresh]
                  : journalEntry.type === 'remove'
                    ? [journalEntry.old]
                    : [journalEntry.old, journalEntry.fresh],
              ),
              header.emptied,
              header.modes ?? [],
              header.cleared,
              directories,
            ),
            ...releaseLocks(locks, directories),
          ]
    if (isUnfinished(remains)) throw unrecoverable(journal, remains)
    leftOver.push(...remains.map(({ path }) => path))
  } finally {
    directories.close()
  }
  for (const path of state === 'done' ? header.retires : []) removeIfThere(path)
  if (state === 'done' && header.canUndo) keepRecovered(journal, header.nonce)
  else unlinkSync(journal)
  const outcome = state === 'begun' ? 'rolled-back' : 'completed'
  return { ...report, outcome, ...(leftOver.length === 0 ? {} : { leftOver }) }
}

/**
 * Rolls back a commit that has begun, unless one of its directories is missing. In that case, the files that were moved aside are no longer where the commit
 * put them, and the journal must be kept, because nothing else contains their names.
 */
function takeBack(header: Header, linkless: boolean, directories: Directories): readonly Leftover[] {
  const own = new Set([...header.made, ...header.cleared.map(({ path }) => path)])
  const used = new Set(
    entriesOf(header).flatMap((journalEntry) =>
      journalEntry.type === 'add' ? [journalEntry.fresh.directory] : [journalEntry.old.directory],
    ),
  )
  const missing = [...used].filter((path) => !own.has(path) && !isThere(path, directories))
  if (missing.length > 0) return missing.map((path) => ({ path, reason: 'changed' }))
  const locks = header.alongside?.locks ?? []
  return rollBack({ ...header, journalEntries: entriesOf(header), locks, linkless }, directories)
}

function entriesOf({ steps, alongside }: Header): readonly JournalEntry[] {
  return [...steps.map(({ journalEntry }) => journalEntry), ...(alongside?.steps ?? [])]
}

function isThere(directory: string, directories: Directories): boolean {
  try {
    directories.owner(directory)
    return true
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR' || errnoOf(error) === 'ELOOP') return false
    throw error
  }
}

function unrecoverable(journal: string, remains: readonly Leftover[]): CommitError {
  return new CommitError('unrecoverable', {
    operation: 'journal',
    journal,
    tree: 'incomplete',
    remains: remains.filter(({ stays }) => stays === undefined).map(({ path }) => path),
    errno: remains[0]?.reason ?? '',
  })
}

/** Refuses a journal that names paths outside its own tree. */
function checkConfined(header: Header, journal: string): void {
  if (header.unsafePaths) return
  const { alongside } = header
  const within = [...(header.within ?? [header.root]), ...(alongside?.within ?? [])]
  const named = [...entriesOf(header), ...(alongside?.locks ?? [])].flatMap((journalEntry) => [
    journalEntry.target.directory,
    journalEntry.type === 'remove' ? journalEntry.old.directory : journalEntry.fresh.directory,
    journalEntry.type === 'add' ? journalEntry.fresh.directory : journalEntry.old.directory,
  ])
  const cleared = [...header.cleared, ...(header.modes ?? []), ...(header.removed ?? [])].map(({ path }) => path)
  const asides = header.cleared.flatMap(({ aside }) => (aside === undefined ? [] : [aside.directory]))
  const outside = [
    ...named,
    ...asides,
    ...header.times.map(({ path }) => path),
    ...header.made,
    ...header.emptied,
    ...cleared,
  ].find((path) => !within.some((root) => isInside(path, root)))
  if (outside !== undefined) throw new CommitError('unrecoverable', { operation: 'journal', journal, key: outside })
}

function isSameTree(header: Header): boolean {
  const found = identityOf(header.root)
  return found !== undefined && isSameDirectory(header, found)
}

async function readIfThere(journal: string): Promise<ReadJournal | undefined> {
  try {
    return await readJournal(journal)
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

function removeIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error
  }
}
