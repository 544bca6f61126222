import { basename, dirname } from 'node:path'
import type { ChangeSet } from '../change-set.ts'
import type { TreeLock } from './tree-lock.ts'
import { openDirectories, type Directories } from './directories.ts'
import { baseOf, checkAlongside, lockEntries, takeLocks, withAlongside } from './alongside.ts'
import { exists, lookAtDirectory, planDirectories, removedDirectories } from './directory-changes.ts'
import { CommitError, PathError, withFacts, type CommitFacts } from './commit-error.ts'
import { findGitDirectories } from './find-git-directories.ts'
import { checkOld, installAll, prepareAll, type CurrentOperation, type Work } from './install.ts'
import { beginJournal } from './begin-journal.ts'
import { nonceOf } from './journal-owner.ts'
import { proveMovable, proveRemovable } from './prove-removable.ts'
import { planSteps } from './plan-steps.ts'
import { readAttributes, type LostAttributes } from './attributes.ts'
import { timesOf } from './directory-times.ts'
import { syncAll, syncFinally } from './sync-directories.ts'
import { describeCommit } from './describe-commit.ts'
import { isUnfinished } from './leftovers.ts'
import { cleanUp, releaseLocks } from './clean-up.ts'
import { rollBack } from './roll-back.ts'
import type { Entry, Step, Times } from './commit-steps.ts'
import type { Extras, Options, Outcome } from './transaction-options.ts'
import { confine } from './tree.ts'
import { findDifference, mayWrite } from './check-unchanged.ts'

/** The maximum number of milliseconds that a commit works before it lets other tasks run. */
const turnMs = 20

/**
 * Carries out a change set under a tree lock. It checks the tree, writes the journal, prepares and installs the new files, marks the point of no return, and
 * cleans up. If anything fails before the point of no return, everything is rolled back.
 *
 * @throws CommitError, PathError
 */
export async function transact(
  changeSet: ChangeSet,
  lock: TreeLock,
  given: Extras,
  options: Options,
): Promise<Outcome> {
  const { journal } = lock
  const extras = { ...given, emptied: [...given.emptied, ...removedDirectories(changeSet)] }
  const { alongside } = options
  const directories = openRoot(changeSet, alongside)
  const current: CurrentOperation = { operation: 'prepare', change: undefined }
  try {
    checkPlaces(changeSet)
    if (alongside !== undefined) checkAlongside(alongside)
    const locks = lockEntries(alongside?.locks ?? [], nonceOf(lock.owner))
    const plan = planSteps(
      alongside === undefined ? changeSet : withAlongside(changeSet, alongside),
      nonceOf(lock.owner),
      (directory) => exists(directory, directories),
      extras.emptied,
    )
    const unread: Work = {
      ...plan,
      cleared: plan.cleared.map(({ path, aside }) => ({ ...lookAtDirectory(path, directories), aside })),
      directories,
      locks,
      journal,
      durable: options.durable,
      current,
      proven: new Set(),
      progress: { linkless: false, copied: new Set() },
      attributes: { before: () => undefined, isHeld: () => false, give: () => [] },
      pause: pacer(options.signal),
    }
    await checkAll(unread)
    const work: Work = { ...unread, attributes: await readAttributes(plan.steps, directories) }
    const own = planDirectories(changeSet, plan.made, directories)
    const times = timesOf(work)
    const content = describeCommit(changeSet, { ...work, ...own, times }, lock, extras, options)
    Object.assign(current, { operation: 'journal', change: undefined })
    const lost: LostAttributes[] = []
    const canUndo = beginJournal(journal, content, options)
    try {
      lost.push(...(await prepareAll(work)))
      if (alongside !== undefined) takeLocks(alongside, locks, nonceOf(lock.owner), directories)
      const sync = (): void => (options.durable ? syncAll(work) : undefined)
      await installAll(work, sync)
      finalCheck(work)
      sync()
      Object.assign(current, { operation: 'journal', change: undefined })
      journal.markDone(options.durable)
    } catch (error) {
      throw takeBack(error, work, times)
    }
    const leftOver = cleanUp(namesLeft(plan.steps), extras.emptied, own.modes, work.cleared, directories)
    leftOver.push(...releaseLocks(locks, directories))
    if (options.durable && !isUnfinished(leftOver)) leftOver.push(...syncFinally(work))
    return { ...plan, canUndo, leftOver, lost }
  } catch (error) {
    throw typed(error, current)
  } finally {
    directories.close()
  }
}

function openRoot(changeSet: ChangeSet, alongside: Options['alongside']): Directories {
  try {
    return openDirectories(baseOf(changeSet, alongside))
  } catch (error) {
    throw withFacts(error, { operation: 'prepare', key: changeSet.root })
  }
}

/** Checks the paths of a change set. Planning checks them too, but a caller may have created the change set without planning. */
function checkPlaces({ root, within = [root], unsafePaths, changes, directories = [] }: ChangeSet): void {
  const gitDirectories = unsafePaths ? [] : within.flatMap(findGitDirectories)
  const places = [...changes.map(({ place }) => place), ...directories.map(({ key }) => ({ key, path: key }))]
  for (const { key, path } of places) {
    if (!key.startsWith('/') || key === '/' || /\/(?:\.{0,2}(?:\/|$))|\0/.test(key)) {
      throw new PathError('invalid-path', path, { resolved: key })
    }
    if (!unsafePaths) confine(path, key, within, gitDirectories)
  }
}

/**
 * Checks that no file has changed since the plan was made, and that this user may write, rename and remove the files.
 *
 * @throws CommitError `changed`, which names all files that have changed; `read-only` for a file that this user may not write; `system` for one that
 *   this user may not rename or remove; `aborted`
 */
async function checkAll(work: Work): Promise<void> {
  const differences: NonNullable<CommitFacts['differences']>[number][] = []
  const made = new Set(work.made)
  const cleared = new Set(work.cleared.map(({ path }) => path))
  for (const { change, journalEntry } of work.steps) {
    await work.pause()
    const { path, key } = change.place
    Object.assign(work.current, { operation: 'prepare', change })
    if (cleared.has(key) || (change.before.type === 'absent' && made.has(journalEntry.target.directory))) continue
    if (made.has(journalEntry.target.directory) || !exists(journalEntry.target.directory, work.directories)) {
      differences.push({ path, key, how: 'vanished' })
      continue
    }
    const entry = work.directories.entry(journalEntry.target.directory, journalEntry.target.name)
    const how = findDifference(change.before, entry)
    if (how !== undefined) differences.push({ path, key, how })
    else if (change.type === 'write' && change.evenReadOnly !== true && !mayWrite(change.before, entry)) {
      throw new CommitError('read-only', { operation: 'write', path, key, errno: 'EACCES' })
    } else if (change.before.type !== 'absent') {
      proveRemovable(journalEntry.target, change, work.directories, work.proven)
      if (journalEntry.type === 'remove' && journalEntry.old.directory !== journalEntry.target.directory)
        proveMovable(journalEntry.target, journalEntry.old.directory, change, work.directories)
    }
  }
  if (differences.length > 0) throw new CommitError('changed', { operation: 'prepare', differences })
  for (const { path } of work.cleared) {
    const entry = { directory: dirname(path), name: basename(path) }
    proveMovable(entry, entry.directory, undefined, work.directories)
  }
}

/** Checks once more the old files that are kept under temporary names: a program that had one of them open may have written to it in the meantime. */
function finalCheck(work: Work): void {
  for (const { change, journalEntry } of work.steps) {
    if (journalEntry.type !== 'add' && !work.progress.copied.has(journalEntry))
      checkOld(change, journalEntry.old, work.directories)
  }
}

/** Rolls back the commit. @returns the error to throw, which says whether the tree is restored */
function takeBack(error: unknown, work: Work, times: readonly Times[]): unknown {
  const { steps, progress, directories } = work
  const begun = {
    ...work,
    times,
    journalEntries: steps.map(({ journalEntry }) => journalEntry),
    linkless: progress.linkless,
  }
  const remains = rollBack(begun, directories)
  const failure = typed(error, work.current)
  if (remains.length === 0) return failure
  const known = failure instanceof CommitError ? failure : new CommitError('system', { cause: failure })
  const [harmless, open] = [true, false].map((stays) =>
    remains.filter((each) => (each.stays !== undefined) === stays).map(({ path }) => path),
  ) as [string[], string[]]
  return new CommitError(known.code, {
    ...known.facts,
    ...(harmless.length === 0 ? {} : { leftOver: harmless }),
    ...(open.length === 0 ? {} : { tree: 'incomplete', remains: open }),
  })
}

/** The commit's temporary names that are still in the tree after everything is installed. */
function namesLeft(steps: readonly Step[]): readonly Entry[] {
  return steps.flatMap((step) => {
    if (step.journalEntry.type === 'add') return [step.journalEntry.fresh]
    // If the old file is another name of the renamed file, renaming does nothing, and the temporary name stays.
    return step.type === 'install' && step.renamed !== undefined
      ? [step.journalEntry.old, step.journalEntry.fresh]
      : [step.journalEntry.old]
  })
}

/** Returns a function that lets other tasks run after a long period of work. The function throws an error if the signal is aborted. */
function pacer(signal: AbortSignal | undefined): Work['pause'] {
  // `performance` isn't used, because loading its module would take more time than a small commit.
  let since = Date.now()
  const turn = async (): Promise<void> => {
    await new Promise(setImmediate)
    since = Date.now()
    if (signal?.aborted === true) throw new CommitError('aborted', { cause: signal.reason })
  }
  return () => {
    if (signal?.aborted === true) throw new CommitError('aborted', { cause: signal.reason })
    return Date.now() - since < turnMs ? undefined : turn()
  }
}

function typed(error: unknown, { operation, change }: CurrentOperation): unknown {
  const { path, key } = change?.place ?? {}
  return withFacts(error, { operation, ...(path === undefined || key === undefined ? {} : { path, key }) })
}
