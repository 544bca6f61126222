/** The file side of a patch: a confined view of a tree, and the transaction that changes it. */
import type { Report } from './commit.ts'
import { findUnfinished } from './find-unfinished.ts'
import type { RecoveryReport } from './recover-from-journal.ts'
import type { RecoverOptions } from './recover.ts'
import { realDirectory } from './tree.ts'
import type { UndoOptions } from './undo.ts'

export { commitChangeSet, type CommitOptions, type Report } from './commit.ts'
export {
  CommitError,
  PathError,
  ReadError,
  type CommitErrorCode,
  type CommitFacts,
  type Difference,
  type Operation,
  type PathErrorCode,
} from './commit-error.ts'
export { findNearPaths } from './near-paths.ts'
export type { RecoveryReport } from './recover-from-journal.ts'
export type { RecoverOptions } from './recover.ts'
export { isInside } from './resolve-path.ts'
export type { Alongside } from './transaction-options.ts'
export { openTree, type Tree } from './tree.ts'

/**
 * Puts in order what crashed commits left: takes back those that had not passed their point of no return, completes
 * the others. Commits at work are waited for. Nothing to do is no failure: the list is then empty, and finding that out
 * for one root takes a few system calls, so call it before every plan.
 *
 * @throws CommitError `unrecoverable` naming the files somebody changed since the crash; `busy`
 * @example for (const { outcome, paths } of await recover({ root: '.' })) console.log(outcome, paths)
 */
export async function recover(options: RecoverOptions = {}): Promise<readonly RecoveryReport[]> {
  // Reading journals needs a validator, which a start without a crash behind it need not load.
  const { root, stateDirectory } = options
  const isIdle = root !== undefined && findUnfinished(realDirectory(root), stateDirectory).length === 0
  return isIdle ? [] : (await import('./recover.ts')).recover(options)
}

/**
 * Takes back the last patch that was applied to a tree: old bytes, modes and owners return, new files go, and so do
 * directories that were made for it and are empty again. Done as one transaction; calling it again takes back the
 * patch before that one.
 *
 * @param options.only takes back the patch with this id, and only where it is the last; else `nothing-to-undo`
 * @throws CommitError `changed` naming every file that isn't what the patch left; `nothing-to-undo`
 * @example
 * await applyPatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n', { root: '.' })
 * await undo('.') // a.txt is gone
 */
export async function undo(root: string, options: UndoOptions = {}): Promise<Report> {
  return (await import('./undo.ts')).undo(root, options)
}
