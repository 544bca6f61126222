import { lstatSync, readdirSync, renameSync, rmSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TreeLock } from './tree-lock.ts'
import { listJournals } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { retryOnce } from './retry-once.ts'

/** How many of the newest patches applied to a tree can be reverted, and how many bytes the journals of these patches may take in total. */
const keptPatches = 20
const keptBytes = 128 * 1024 * 1024

/** The maximum number of trees whose journals are kept. */
const keptTrees = 100

/**
 * Keeps a completed commit's journal for `undo`, and removes the tree's oldest journals if there are more than `keptPatches`, or if they take more
 * than `keptBytes`. If the tree's folder is new and there are more than `keptTrees`, old journals of other trees are removed too.
 */
export function keepForUndo(lock: TreeLock): void {
  keep(lock.directory, nonceOf(lock.owner), (name) => lock.journal.keepAs(name))
  if (lock.isNew) retryOnce(() => forgetOldTrees(lock.directory))
}

/** Keeps the journal of a commit that was complete when its run crashed. No later commit can have begun, because it would have recovered this commit first. */
export function keepRecovered(journal: string, nonce: string): void {
  const directory = dirname(journal)
  keep(directory, nonce, (name) => renameSync(journal, join(directory, name)))
}

function keep(directory: string, nonce: string, keepAs: (name: string) => void): void {
  const kept = listJournals(directory, 'applied')
  const last = Number(kept.at(-1)?.split('-')[1] ?? 0)
  const name = `applied-${String(last + 1).padStart(8, '0')}-${nonce}`
  keepAs(name)
  let bytes = 0
  for (const [index, old] of [...kept, name].toReversed().entries()) {
    const path = join(directory, old)
    bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    // If the removal fails, one journal too many is kept, which does no harm.
    if (index > 0 && (index >= keptPatches || bytes > keptBytes)) retryOnce(() => unlinkSync(path))
  }
}

/**
 * Removes the journals of the trees that have not been patched for the longest time. The journals of a tree in which a crashed commit must still be
 * recovered are kept.
 */
function forgetOldTrees(directory: string): void {
  const parent = dirname(directory)
  const trees = readdirSync(parent).map((name) => join(parent, name))
  if (trees.length <= keptTrees) return
  const byAge = trees
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => one.at - other.at)
  for (const { path } of byAge.slice(0, trees.length - keptTrees)) {
    if (listJournals(path, 'active').length + listJournals(path, 'failed').length > 0) continue
    for (const name of listJournals(path, 'applied')) rmSync(join(path, name), { force: true })
    // The folder isn't removed recursively: another run may have created a journal in it in the meantime, and that journal must stay.
    retryOnce(() => rmdirSync(path))
  }
}
