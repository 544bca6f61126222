import { join } from 'node:path'
import { readdirSync } from 'node:fs'
import { CommitError, errnoOf } from './commit-error.ts'
import { identityOf, isSameDirectory, isSurelySame, type Identity } from './directory-identity.ts'
import { listJournals, type Header } from './journal.ts'
import { moveHeader } from './move-header.ts'
import { readJournal, type ReadJournal } from './read-journal.ts'
import { findStateDirectories, findStateRoots } from './state-directory.ts'

/** An applied patch, as recorded in its journal. */
type Applied = {
  readonly journal: string
  /** The journal's header, with updated paths if the tree was moved. */
  readonly header: Header
  /** The offset in the journal at which the stored bytes of the old files begin. */
  readonly bytesAt: number
}

/** The result of the search for a patch that can be reverted in a tree. */
export type AppliedLookup =
  | { readonly type: 'applied'; readonly applied: Applied }
  /**
   * There is no patch that can be reverted. `replaced` says whether patches were applied to another directory that was at this path before. `alsoAt` is
   * another path of the tree, if a patch was applied there.
   */
  | { readonly type: 'none'; readonly replaced: boolean; readonly alsoAt: string | undefined }

/**
 * The newest applied patch of a tree. The tree is found by its path, or, if it was moved, by its identity. Patches applied to another directory at the
 * same path don't count.
 *
 * @param id look only for the patch with this id, even if others were applied after it
 */
export async function findApplied(
  root: string,
  stateDirectory: string | undefined,
  id?: string,
): Promise<AppliedLookup> {
  const identity = identityOf(root)
  if (identity === undefined) return { type: 'none', replaced: false, alsoAt: undefined }
  const here: Applied[] = []
  let replaced = false
  for (const directory of findStateDirectories(root, stateDirectory)) {
    for (const name of listJournals(directory, 'applied').toReversed()) {
      const journal = join(directory, name)
      const read = await readApplied(journal)
      if (read.state !== 'done' || read.header.root !== root || (id ?? read.header.nonce) !== read.header.nonce)
        continue
      if (isSameDirectory(read.header, identity)) {
        here.push({ journal, header: read.header, bytesAt: read.bytesAt })
        break
      }
      replaced = true
    }
  }
  const newest = newestOf(here)
  if (newest !== undefined) return { type: 'applied', applied: newest }
  const elsewhere = newestOf(await findMoved(root, identity, stateDirectory, id))
  if (elsewhere === undefined) return { type: 'none', replaced, alsoAt: undefined }
  const { root: before } = elsewhere.header
  const there = identityOf(before)
  // One directory can have two paths, for example because of a bind mount. If the path at which the patch was applied still leads to the directory, it wasn't
  // moved. The patch then can't be reverted through the other path, because whoever uses that path may not know about the patch.
  const header =
    there !== undefined && isSameDirectory(there, identity) ? undefined : moveHeader(elsewhere.header, root)
  return header === undefined
    ? { type: 'none', replaced, alsoAt: before }
    : { type: 'applied', applied: { ...elsewhere, header } }
}

/** Finds the patches that were applied to the directory `root` under other paths, for example before it was moved: the newest one for each path. */
async function findMoved(root: string, identity: Identity, stateDirectory: string | undefined, id: string | undefined) {
  const found: Applied[] = []
  const folders = findStateRoots(stateDirectory).flatMap((parent) =>
    readdirSync(parent).map((name) => join(parent, name)),
  )
  for (const directory of folders) {
    for (const name of namesIn(directory).toReversed()) {
      const journal = join(directory, name)
      const read = await readOthers(journal)
      if (read?.state !== 'done' || read.header.root === root || !isSurelySame(read.header, identity)) continue
      if (id !== undefined && read.header.nonce !== id) continue
      found.push({ journal, header: read.header, bytesAt: read.bytesAt })
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

/**
 * Reads a journal that probably belongs to another tree. If the journal is damaged, it is skipped here; the error is reported only when somebody works with
 * that tree.
 */
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
