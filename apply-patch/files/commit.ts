import type { ChangeSet, SummaryLine, Warning } from '../change-set.ts'
import type { RecoveryReport } from './recover-from-journal.ts'
import { undoLimit } from './keep-journal.ts'
import { nonceOf } from './journal-owner.ts'
import { transact } from './transact.ts'
import type { Alongside, Outcome } from './transaction-options.ts'
import { withTreeLock } from './with-tree-lock.ts'

/** How a commit or an undo is made. */
export type CommitOptions = {
  /** Sync data, directories and journal, so that a power cut is survived too. A kill needs none of it. */
  readonly durable?: boolean
  /** Aborts the commit, which then takes back what it began; past the point of no return it completes. */
  readonly signal?: AbortSignal
  /** The time written into the journal. */
  readonly now?: () => Date
  /** What changes with it, where no patch may write. Default: nothing. */
  readonly alongside?: Alongside
  /** Where journals are kept instead of the user's state folder. */
  readonly stateDirectory?: string
}

/** What was done: every change of the set, and nothing else. */
export type Report = {
  /** What `undo` knows it by. */
  readonly id: string
  readonly root: string
  readonly summary: readonly SummaryLine[]
  /** The plan's, and those of the commit itself. */
  readonly warnings: readonly Warning[]
  /** Directories made on the way, absolute, parents first. */
  readonly madeDirectories: readonly string[]
  /** Whether `undo` can take it back. */
  readonly canUndo: boolean
  /** Crashed commits that were put in order before this one. */
  readonly recovered: readonly RecoveryReport[]
}

/**
 * Makes a change set so: all of it or nothing. First whatever a crashed run left in this tree is put in order; then
 * every file is checked to be what the plan was made from; then each new content is written beside its target and
 * renamed over it, with a journal outside the tree until nothing can go wrong any more.
 *
 * A file with several hard links gets a new inode: its other names keep the old content (they may lie outside the
 * root, where nothing may be written); a warning says so. A symbolic link is never written through.
 *
 * Runs on one tree wait for each other. What a kill leaves is put in order by the next commit or by `recover`.
 *
 * @throws CommitError when it did not happen; its `tree` tells whether everything is as before
 * @throws PathError for a change outside the root
 * @example
 * const { patch } = parsePatch('*** Begin Patch\n*** Add File: a.txt\n+one\n*** End Patch\n')
 * const { summary } = await commit(await planPatch(patch, { root: '.' }), { durable: true })
 */
export async function commitChangeSet(changeSet: ChangeSet, options: CommitOptions = {}): Promise<Report> {
  const { signal, durable = false, now, alongside } = options
  return withTreeLock(changeSet.root, options, async (lock, recovered) => {
    const extras = { emptied: [], retires: [], undoLimit }
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

/** What a reader should know about files of a change set, beyond what the patch says. */
function warningsOf(changeSet: ChangeSet): readonly Warning[] {
  return changeSet.changes.flatMap((change) => {
    if (change.type !== 'write' || change.before.type !== 'file' || change.before.links < 2) return []
    const others = change.before.links - 1
    const message =
      `${change.place.path} had ${others} other hard ${others === 1 ? 'link' : 'links'}; ` +
      `only this name has the new content`
    return [{ code: 'hard-link-broken', message, path: change.place.path }]
  })
}

/** Files of ours that could not be removed after a commit that is done. */
export function leftOverWarnings(outcome: Outcome): readonly Warning[] {
  return outcome.leftOver.map(({ path, reason }) => ({
    code: 'left-over',
    message: `${path} is a file of apply-patch that could not be removed (${reason}); "apply-patch recover" tries again`,
    path,
  }))
}
