import { readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lockTree, type OtherRun } from './tree-lock.ts'
import { CommitError } from './commit-error.ts'
import { findUnfinished } from './find-unfinished.ts'
import { listJournals } from './journal.ts'
import { recoverFromJournal, type RecoveryReport } from './recover-from-journal.ts'
import { readJournal } from './read-journal.ts'
import { findStateRoots } from './state-directory.ts'
import { realDirectory } from './tree.ts'

export type RecoverOptions = {
  /** Recovers only this tree and the trees that contain it. If undefined, every tree of this user is recovered. */
  readonly root?: string
  readonly signal?: AbortSignal
  readonly stateDirectory?: string
  /** Called once if another run makes this one wait for longer than a moment. */
  readonly waits?: (other: OtherRun) => void
  /**
   * Forgets the journals of commits that can't be recovered, for example because somebody has changed the files since the crash. The tree stays as it
   * is, including the temporary files of these commits (`.apply-patch-*`).
   */
  readonly abandon?: boolean
}

/**
 * Recovers crashed commits: rolls back those that had not passed their point of no return, and completes the others. It waits for running commits. It doesn't
 * fail if there is nothing to do.
 *
 * @throws CommitError `unrecoverable` if a journal can't be read, or files can't be restored (`remains` names them); `busy` if another run takes
 *   too long
 */
export async function recover(options: RecoverOptions = {}): Promise<readonly RecoveryReport[]> {
  const { root: asked, stateDirectory } = options
  const roots =
    asked === undefined ? await crashedRoots(stateDirectory) : findUnfinished(realDirectory(asked), stateDirectory)
  const reports: RecoveryReport[] = []
  for (const root of roots) {
    const lock = await lockTree(root, options)
    try {
      for (const journal of lock.crashed) reports.push(...(await settle(journal, root, options.abandon === true)))
    } finally {
      lock.journal.discard()
      lock.release()
    }
  }
  return reports
}

async function settle(journal: string, root: string, abandon: boolean): Promise<readonly RecoveryReport[]> {
  try {
    const report = await recoverFromJournal(journal, root)
    return report === undefined ? [] : [report]
  } catch (error) {
    if (!abandon || !(error instanceof CommitError) || error.code !== 'unrecoverable') throw error
    unlinkSync(journal)
    return [{ root, at: undefined, outcome: 'abandoned', paths: error.facts.remains ?? [] }]
  }
}

/** Finds the trees to which journals of unfinished commits belong. */
async function crashedRoots(stateDirectory: string | undefined): Promise<readonly string[]> {
  const journals = findStateRoots(stateDirectory)
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .flatMap((directory) =>
      [...listJournals(directory, 'failed'), ...listJournals(directory, 'active')].map((name) => join(directory, name)),
    )
  const roots = new Set<string>()
  for (const journal of journals) {
    const read = await readJournal(journal)
    if (read.state !== 'not-begun') roots.add(read.header.root)
  }
  return [...roots]
}
