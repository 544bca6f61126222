/** Access to the files that a patch is about: a confined view of a tree, and the transaction that changes the tree. */
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
export { isProcessAlive, startOf } from './process-alive.ts'
export { isClaimAlive, tryToLock, type Claim } from './lock.ts'
export { transactionsInProgress } from './in-progress.ts'
export { findNearPaths } from './near-paths.ts'
export type { RecoveryReport } from './recover-from-journal.ts'
export type { RecoverOptions } from './recover.ts'
export type { OtherRun } from './tree-lock.ts'
export { readSmallFile } from './read-state.ts'
export { isInside } from './resolve-path.ts'
export type { Alongside } from './transaction-options.ts'
export { openTree, type Tree } from './tree.ts'
export { writeChunks } from './write-all.ts'

/**
 * Recovers crashed commits: rolls back those that had not passed their point of no return, and completes the others. It waits for running commits. If there is
 * nothing to do, it returns an empty list. For one root, this takes only a few system calls, so call it before every plan.
 *
 * @throws CommitError `unrecoverable` if a journal can't be read, or files can't be restored (`remains` names them); `busy` if another run takes
 *   too long
 * @example for (const { outcome, paths } of await recover({ root: '.' })) console.log(outcome, paths)
 */
export async function recover(options: RecoverOptions = {}): Promise<readonly RecoveryReport[]> {
  // Reading journals needs a validator, so `recover.ts` is loaded only if an earlier run may have crashed.
  const { root, stateDirectory } = options
  const isIdle = root !== undefined && findUnfinished(realDirectory(root), stateDirectory).length === 0
  return isIdle ? [] : (await import('./recover.ts')).recover(options)
}

/** Whether a commit in this tree, or in one that contains it, has crashed or is still running. @param root an existing directory */
export function hasUnfinished(root: string): boolean {
  return findUnfinished(realDirectory(root), undefined).length > 0
}

/**
 * Reverts the last patch that was applied to a tree: it restores old bytes, modes and owners, and removes new files, as well as directories that were created
 * for the patch and are empty again. The undo is one transaction; calling this function again reverts the patch before that one.
 *
 * @param options.only the id of the patch to revert. If another patch was applied last, the error is `nothing-to-undo`
 * @throws CommitError `changed`, which names all files that have changed since the patch; `nothing-to-undo` if there is no patch to revert;
 *   `unrecoverable` if its journal is damaged
 * @example
 * await applyPatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n', { root: '.' })
 * await undo('.') // a.txt is gone
 */
export async function undo(root: string, options: UndoOptions = {}): Promise<Report> {
  return (await import('./undo.ts')).undo(root, options)
}

/**
 * Whether the patch with this id was applied to a tree and has not been reverted since, as far as the journals that are still kept show.
 *
 * @internal
 */
export async function isApplied(root: string, id: string, stateDirectory?: string): Promise<boolean> {
  return (await import('./undo.ts')).isApplied(root, id, stateDirectory)
}

/**
 * Finds the last patch that was applied to a tree and has not been reverted since. It is the one that `undo` reverts.
 *
 * @internal
 * @returns its id; undefined if there is none
 */
export async function lastApplied(root: string, stateDirectory?: string): Promise<string | undefined> {
  return (await import('./undo.ts')).lastApplied(root, stateDirectory)
}
