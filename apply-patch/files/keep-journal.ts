import { lstatSync, readdirSync, renameSync, rmSync, rmdirSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TreeLock } from './tree-lock.ts'
import { listJournals } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { retryOnce } from './retry-once.ts'

/** How many of the newest patches applied to a tree can be reverted, and how many bytes the journals of these patches may take in total. */
const keptPatches = 20
const keptBytes = 128 * 1024 * 1024

/** The maximum number of trees whose journals are kept, and how many bytes the journals of all trees may take in total. */
const keptTrees = 100
const keptInTotal = 1024 * 1024 * 1024

/** A journal of at least this size is a reason to look at all trees. Smaller ones are few enough that they can't take much space. */
const worthLooking = 1024 * 1024

/**
 * Keeps a completed commit's journal for `undo`, and removes the tree's oldest journals if there are more than `keptPatches`, or if they take more
 * than `keptBytes`. If there are more than `keptTrees` trees, or their journals take more than `keptInTotal`, those of the trees that have not been patched for
 * the longest time are removed too.
 */
export function keepForUndo(lock: TreeLock): void {
  const directory = dirname(lock.journal.path)
  keep(directory, nonceOf(lock.owner), (name) => lock.journal.keepAs(name))
  const size = lstatSync(lock.journal.path, { throwIfNoEntry: false })?.size ?? 0
  if (lock.isNew || size >= worthLooking) retryOnce(() => forgetOldTrees(directory))
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

function forgetOldTrees(directory: string): void {
  const byAge = foldersIn(dirname(directory))
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => other.at - one.at)
  let bytes = 0
  for (const [index, { path }] of byAge.entries()) {
    bytes += sizeOf(path)
    if (path !== directory && (index >= keptTrees || bytes > keptInTotal)) forget(path)
  }
}

/** The folders of journals in a state folder. */
export function foldersIn(stateRoot: string): readonly string[] {
  return readdirSync(stateRoot).map((name) => join(stateRoot, name))
}

function sizeOf(folder: string): number {
  const sizes = listJournals(folder, 'applied').map(
    (name) => lstatSync(join(folder, name), { throwIfNoEntry: false })?.size,
  )
  return sizes.reduce<number>((sum, size = 0) => sum + size, 0)
}

/**
 * Removes the journals that are kept for `undo` in a folder, and the folder if it is empty then. If a commit in the tree is running, or must still be recovered,
 * nothing is removed.
 *
 * @returns how many journals were removed, and their size
 */
export function forget(folder: string): { readonly patches: number; readonly bytes: number } {
  const nothing = { patches: 0, bytes: 0 }
  if (listJournals(folder, 'active').length + listJournals(folder, 'failed').length > 0) return nothing
  const bytes = sizeOf(folder)
  const names = listJournals(folder, 'applied')
  for (const name of names) rmSync(join(folder, name), { force: true })
  // The folder isn't removed recursively: another run may have created a journal in it in the meantime, and that journal must stay.
  retryOnce(() => rmdirSync(folder))
  return { patches: names.length, bytes }
}
