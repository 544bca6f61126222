import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { CommitError, errnoOf } from './commit-error.ts'
import { identityOf, isSameDirectory, isSurelySame, type Identity } from './directory-identity.ts'
import { listJournals, type Header } from './journal.ts'
import { moveHeader } from './move-header.ts'
import { readJournal, type ReadJournal } from './read-journal.ts'
import { findStateDirectories, findStateRoots } from './state-directory.ts'

/** An applied patch, as its journal tells it. */
type Applied = {
  readonly journal: string
  /** All its paths are current. */
  readonly header: Header
  readonly bytes: Buffer
}

/** What there is to take back in a tree. */
export type AppliedLookup =
  | { readonly type: 'applied'; readonly applied: Applied }
  /** `replaced`: patches were applied to a directory that was at this path before. */
  | { readonly type: 'none'; readonly replaced: boolean; readonly alsoAt: string | undefined }

/**
 * The newest applied patch of a tree, by its path, or where it was moved, by what it is known by. What was applied to
 * another directory of the same path is none of it.
 */
export async function findApplied(root: string, stateDirectory: string | undefined): Promise<AppliedLookup> {
  const identity = identityOf(root)
  if (identity === undefined) return { type: 'none', replaced: false, alsoAt: undefined }
  const here: Applied[] = []
  let replaced = false
  for (const directory of findStateDirectories(root, stateDirectory)) {
    for (const name of listJournals(directory, 'applied').toReversed()) {
      const journal = join(directory, name)
      const read = await readApplied(journal)
      if (read.state !== 'done' || read.header.root !== root) continue
      if (isSameDirectory(read.header, identity)) {
        here.push({ journal, header: read.header, bytes: read.bytes })
        break
      }
      replaced = true
    }
  }
  const newest = newestOf(here)
  if (newest !== undefined) return { type: 'applied', applied: newest }
  const elsewhere = newestOf(await findMoved(root, identity, stateDirectory))
  if (elsewhere === undefined) return { type: 'none', replaced, alsoAt: undefined }
  const { root: before } = elsewhere.header
  const there = identityOf(before)
  // One directory with two paths, as by a bind mount: whoever works by the other path would not know of this.
  const header =
    there !== undefined && isSameDirectory(there, identity) ? undefined : moveHeader(elsewhere.header, root)
  return header === undefined
    ? { type: 'none', replaced, alsoAt: before }
    : { type: 'applied', applied: { ...elsewhere, header } }
}

/** Patches of this very directory that were applied when it was elsewhere. */
async function findMoved(root: string, identity: Identity, stateDirectory: string | undefined) {
  const found: Applied[] = []
  const folders = findStateRoots(stateDirectory).flatMap((parent) =>
    readdirSync(parent).map((name) => join(parent, name)),
  )
  for (const directory of folders) {
    for (const name of namesIn(directory).toReversed()) {
      const journal = join(directory, name)
      const read = await readOthers(journal)
      if (read?.state !== 'done' || read.header.root === root || !isSurelySame(read.header, identity)) continue
      found.push({ journal, header: read.header, bytes: read.bytes })
      break
    }
  }
  return found
}

function newestOf(found: readonly Applied[]): Applied | undefined {
  return found.toSorted((one, other) => one.header.at - other.header.at).at(-1)
}

function namesIn(directory: string): readonly string[] {
  try {
    return listJournals(directory, 'applied')
  } catch (error) {
    if (errnoOf(error) !== undefined) return []
    throw error
  }
}

/** A journal that is most likely another tree's: a damaged one is for that tree's user to hear of. */
async function readOthers(journal: string): Promise<ReadJournal | undefined> {
  try {
    return await readJournal(journal)
  } catch (error) {
    if (error instanceof CommitError || errnoOf(error) !== undefined) return undefined
    throw error
  }
}

async function readApplied(journal: string): Promise<ReadJournal> {
  try {
    return await readJournal(journal)
  } catch (error) {
    if (!(error instanceof CommitError)) throw error
    throw new CommitError(error.code, { ...error.facts, operation: 'undo' })
  }
}
