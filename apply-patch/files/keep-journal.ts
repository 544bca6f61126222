import { lstatSync, readdirSync, rmSync, statSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Claim } from './claim.ts'
import { errnoOf } from './errors.ts'
import { listJournals } from './journal.ts'
import { nonceOf } from './owner.ts'

/** A patch that replaces more than this can't be undone later; its journal would outgrow its use. */
export const undoLimit = 64 * 1024 * 1024

/** How many applied patches of one tree can be taken back, newest first, and how many bytes their journals may take. */
const keptPatches = 20
const keptBytes = 128 * 1024 * 1024

/** How many trees have journals at once. */
const keptTrees = 100

/** Keeps a completed commit's journal for `undo`, and forgets the oldest ones beyond the bounds above. */
export function keepForUndo(claim: Claim): void {
  const kept = listJournals(claim.directory, 'applied')
  const last = Number(kept.at(-1)?.split('-')[1] ?? 0)
  const name = `applied-${String(last + 1).padStart(8, '0')}-${nonceOf(claim.owner)}`
  if (!rename(claim, name)) return
  let bytes = 0
  for (const [index, old] of [...kept, name].toReversed().entries()) {
    const path = join(claim.directory, old)
    bytes += lstatSync(path, { throwIfNoEntry: false })?.size ?? 0
    if (index > 0 && (index >= keptPatches || bytes > keptBytes)) remove(path)
  }
  if (claim.isNew) forgetOldTrees(claim.directory)
}

/** Marks a journal as nobody's at work, for `recover`. @returns its path */
export function markFailed(claim: Claim): string {
  rename(claim, `failed-${claim.owner}`)
  return claim.journal.path
}

/** A second attempt serves where the first one hit a passing error; the journal is then good under its old name too. */
function rename(claim: Claim, name: string): boolean {
  for (let attempt = 1; ; attempt += 1) {
    try {
      claim.journal.keepAs(name)
      return true
    } catch (error) {
      if (errnoOf(error) === undefined) throw error
      if (attempt === 2) return false
    }
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    // One journal too many does no harm.
    if (errnoOf(error) === undefined) throw error
  }
}

/** Forgets the trees that were not patched for longest, unless a crash in them is still to be put in order. */
function forgetOldTrees(directory: string): void {
  const parent = dirname(directory)
  const trees = readdirSync(parent).map((name) => join(parent, name))
  if (trees.length <= keptTrees) return
  const byAge = trees
    .map((path) => ({ path, at: statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((one, other) => one.at - other.at)
  for (const { path } of byAge.slice(0, trees.length - keptTrees)) {
    if (listJournals(path, 'active').length + listJournals(path, 'failed').length > 0) continue
    rmSync(path, { recursive: true, force: true })
  }
}
