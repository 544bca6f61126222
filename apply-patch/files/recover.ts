import { readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import { lockTree } from './tree-lock.ts'
import { CommitError } from './commit-error.ts'
import { findUnfinished } from './find-unfinished.ts'
import { listJournals } from './journal.ts'
import { recoverFromJournal, type RecoveryReport } from './recover-from-journal.ts'
import { readJournal } from './read-journal.ts'
import { findStateRoots } from './state-directory.ts'
import { realDirectory } from './tree.ts'

export type RecoverOptions = {
  /** Only this tree and those it is a folder of; every tree of this user when left out. */
  readonly root?: string
  readonly signal?: AbortSignal
  readonly stateDirectory?: string
  /**
   * Forgets the journals of commits that can't be put in order, because somebody changed the files since. The tree
   * stays as it is, files of ours (`.apply-patch-*`) included.
   */
  readonly abandon?: boolean
}

/**
 * Puts in order what crashed commits left: takes back those that had not passed their point of no return, completes
 * the others. Commits at work are waited for. Nothing to do is no failure.
 *
 * @throws CommitError `unrecoverable` naming the files somebody changed since the crash; `busy`
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

/** The trees that unfinished journals speak of. */
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
