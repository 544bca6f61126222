import { unlinkSync } from 'node:fs'
import { isUnfinished } from './leftovers.ts'
import { lockTree, type LockOptions, type TreeLock } from './tree-lock.ts'
import { CommitError, withFacts } from './commit-error.ts'
import { keepForUndo } from './keep-journal.ts'
import type { RecoveryReport } from './recover-from-journal.ts'
import type { Outcome } from './transaction-options.ts'
import { retryOnce } from './retry-once.ts'

/** The result of a commit, and the journals that it makes obsolete. */
type Done<Result> = { readonly report: Result; readonly outcome: Outcome; readonly retires: readonly string[] }

/**
 * Runs a commit under the lock of a tree, after recovering crashed runs in that tree. Afterwards, the journal is kept for `undo`, kept for `recover`, or
 * removed.
 */
export async function withTreeLock<Result>(
  root: string,
  options: LockOptions,
  act: (lock: TreeLock, recovered: readonly RecoveryReport[]) => Promise<Done<Result>>,
): Promise<Result> {
  const lock = await lockTree(root, options)
  try {
    const done = await act(lock, await recoverCrashed(lock, root))
    conclude(lock, done)
    return done.report
  } catch (error) {
    // The error can also be about a crashed run that can't be recovered. Then only that run's journal is kept, because this commit has not begun.
    const isOurs = error instanceof CommitError && error.tree === 'incomplete' && error.code !== 'unrecoverable'
    if (!isOurs) {
      lock.journal.discard()
      throw withFacts(error, { operation: 'journal' })
    }
    markFailed(lock)
    throw new CommitError(error.code, { ...error.facts, journal: lock.journal.path })
  } finally {
    lock.journal.close()
    lock.release()
  }
}

/** Cleans up after a commit. The commit is complete, so no error in this function may make it fail: files that can't be removed now are left to `recover`. */
function conclude(lock: TreeLock, { outcome, retires }: Done<unknown>): void {
  const retired = retires.every((path) => retryOnce(() => unlinkSync(path)))
  if (isUnfinished(outcome.leftOver) || !retired) markFailed(lock)
  else if (!outcome.canUndo || !retryOnce(() => keepForUndo(lock))) lock.journal.discard()
}

/**
 * Renames the journal of a commit that could not be rolled back or cleaned up, to show that no run is using it any more. Under its old name, other
 * runs would recover it only after this process has ended.
 */
function markFailed(lock: TreeLock): void {
  retryOnce(() => lock.journal.keepAs(`failed-${lock.owner}`))
}

/** Recovers crashed runs. The code that reads journals needs a validator, so it is loaded only if there was a crash. */
async function recoverCrashed(lock: TreeLock, root: string): Promise<readonly RecoveryReport[]> {
  if (lock.crashed.length === 0) return []
  const { recoverFromJournal } = await import('./recover-from-journal.ts')
  const reports: RecoveryReport[] = []
  for (const journal of lock.crashed) {
    const report = await recoverFromJournal(journal, root)
    if (report !== undefined) reports.push(report)
  }
  return reports
}
