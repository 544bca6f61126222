import type { ChangeSet, SummaryLine, Warning } from '../change-set.ts'
import type { RecoveryReport } from './recover-from-journal.ts'
import { nonceOf } from './journal-owner.ts'
import { transact } from './transact.ts'
import type { Alongside, Outcome } from './transaction-options.ts'
import { withTreeLock } from './with-tree-lock.ts'

/** Options for a commit or an undo. */
export type CommitOptions = {
  /** Syncs data, directories and journal, so that the commit survives even a power cut. Without this option, it survives only the death of the process. */
  readonly durable?: boolean
  /** Aborts the commit, which then rolls back. After the point of no return, the commit is completed instead. */
  readonly signal?: AbortSignal
  /** Returns the current time, which is written to the journal. */
  readonly now?: () => Date
  /** Changes to files that no patch may write. They are made in the same transaction as the commit or the undo. Default: none. */
  readonly alongside?: Alongside
  /** Called with the commit's id before anything is changed. If it throws, nothing is changed. */
  readonly begins?: (id: string) => void
  /** The folder in which journals are stored. Default: the user's state folder. */
  readonly stateDirectory?: string
}

/** The result of a commit. The changes that were made are exactly those of the change set. */
export type Report = {
  /** The id by which `undo` finds the commit. */
  readonly id: string
  readonly root: string
  readonly summary: readonly SummaryLine[]
  /** The warnings of the plan, and of the commit itself. */
  readonly warnings: readonly Warning[]
  /** The absolute paths of the parent directories that were created, outermost first. */
  readonly madeDirectories: readonly string[]
  /** Whether `undo` can revert the commit. */
  readonly canUndo: boolean
  /** Crashed commits that were recovered before this one. */
  readonly recovered: readonly RecoveryReport[]
}

/**
 * Carries out a change set completely, or not at all. First it recovers crashed runs in this tree; then it checks that no file has changed since the
 * plan was made; then it writes a journal outside the tree; then it writes each new content next to its target and renames it over the target. The
 * journal allows a rollback after a crash, and later an undo.
 *
 * A file with several hard links gets a new inode: its other names keep the old content (they may be outside the root, where nothing may be written);
 * a warning says so. A symbolic link is never written through.
 *
 * Runs on one tree wait for each other. After a kill, the next commit or `recover` repairs the tree.
 *
 * @throws CommitError if the commit did not happen; its `tree` says whether the tree is unchanged
 * @throws PathError for a change to a path that is invalid, outside the root or protected
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * const { summary } = await commit(await planPatch(patch, { root: '.' }), { durable: true })
 */
export async function commitChangeSet(changeSet: ChangeSet, options: CommitOptions = {}): Promise<Report> {
  const { signal, durable = false, now, alongside } = options
  return withTreeLock(changeSet.root, options, async (lock, recovered) => {
    const extras = { emptied: [], retires: [], canUndo: true }
    options.begins?.(nonceOf(lock.owner))
    const outcome = await transact(changeSet, lock, extras, { durable, signal, now, alongside })
    const report: Report = {
      id: nonceOf(lock.owner),
      root: changeSet.root,
      summary: changeSet.summary,
      warnings: [...changeSet.warnings, ...warningsOf(changeSet), ...leftOverWarnings(outcome)],
      madeDirectories: outcome.made,
      canUndo: outcome.canUndo,
      recovered,
    }
    return { report, outcome, retires: [] }
  })
}

/** Warnings about files that had other hard links, which still lead to the old content. The patch itself doesn't show that a file has such links. */
function warningsOf(changeSet: ChangeSet): readonly Warning[] {
  return changeSet.changes.flatMap((change) => {
    if (change.type !== 'write' || (change.before.type !== 'file' && change.before.type !== 'unread')) return []
    if (change.before.links < 2) return []
    const others = change.before.links - 1
    const message =
      `${change.place.path} had ${others} other hard ${others === 1 ? 'link' : 'links'}; ` +
      `only this name has the new content`
    return [{ code: 'hard-link-broken', message, path: change.place.path }]
  })
}

/** Warnings about what could not be cleaned up after the commit was completed, such as a temporary file that could not be removed. */
export function leftOverWarnings(outcome: Outcome): readonly Warning[] {
  return outcome.leftOver.map(({ path, reason, stays }) => ({
    code: 'left-over',
    message:
      stays !== undefined
        ? `${path} could not be removed (${reason}), so it stays as ${stays}`
        : `${path} could not be cleaned up after the patch was applied or reverted (${reason}); "apply-patch recover" tries again`,
    path,
  }))
}
