import type { ChangeSet, SummaryLine, Warning } from '../change-set.ts'
import type { RecoveryReport } from './recover-from-journal.ts'
import { nonceOf } from './journal-owner.ts'
import { lostText } from './attributes.ts'
import { transact } from './transact.ts'
import { CommitError } from './commit-error.ts'
import type { OtherRun, TreeLock } from './tree-lock.ts'
import type { Alongside, Options, Outcome } from './transaction-options.ts'
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
  /** Called once if another run on the tree makes this one wait for longer than a moment. */
  readonly waits?: (other: OtherRun) => void
  /**
   * Plans the patch again. It is called while the tree is locked if a file has changed since the plan was made, for example because another run was
   * first. Default: such a commit is refused. It must not recover the tree, because that would wait for this commit.
   */
  readonly planAgain?: () => Promise<ChangeSet>
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
  const { signal, durable = false, now, alongside, stateDirectory } = options
  return withTreeLock(changeSet.root, options, async (lock, recovered) => {
    options.begins?.(nonceOf(lock.owner))
    const given = { durable, signal, now, alongside, stateDirectory }
    const [done, outcome] = await carryOut(changeSet, lock, given, options.planAgain)
    const report: Report = {
      id: nonceOf(lock.owner),
      root: done.root,
      summary: done.summary,
      warnings: [...done.warnings, ...warningsOf(done), ...warningsAfter(outcome)],
      madeDirectories: outcome.made,
      canUndo: outcome.canUndo,
      recovered,
    }
    return { report, outcome, retires: [] }
  })
}

/** Carries out a change set. If a file has changed since the plan was made, a new plan is carried out, if there can be one. */
async function carryOut(
  changeSet: ChangeSet,
  lock: TreeLock,
  options: Options,
  planAgain: CommitOptions['planAgain'],
): Promise<readonly [ChangeSet, Outcome]> {
  const extras = { emptied: [], retires: [], canUndo: true }
  try {
    return [changeSet, await transact(changeSet, lock, extras, options)]
  } catch (error) {
    // Nothing is written to the journal before all files have been checked, so the same journal can be used again.
    const isStale = error instanceof CommitError && error.code === 'changed' && error.facts.operation === 'prepare'
    if (!isStale || planAgain === undefined || options.alongside !== undefined) throw error
    const again = await planAgain()
    if (again.root !== changeSet.root) throw error
    return [again, await transact(again, lock, extras, options)]
  }
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

/** Warnings about what a completed commit could not keep, or not clean up afterwards, such as a temporary file that could not be removed. */
export function warningsAfter(outcome: Outcome): readonly Warning[] {
  const lost = outcome.lost.map((each) => ({ code: 'attributes-lost', message: lostText(each), path: each.path }))
  const left = outcome.leftOver.map(({ path, reason, stays }) => ({
    code: 'left-over',
    message:
      stays !== undefined
        ? `${path} could not be removed (${reason}), so it stays as ${stays}`
        : `${path} could not be cleaned up after the patch was applied or reverted (${reason}); "apply-patch recover" tries again`,
    path,
  }))
  return [...lost, ...left]
}
