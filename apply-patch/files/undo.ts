import { dirname } from 'node:path'
import type { Change, ChangeSet, DirectoryChange, FileState, Place, Warning } from '../change-set.ts'
import { warningsAfter, type CommitOptions, type Report } from './commit.ts'
import { crc32 } from './crc32.ts'
import { CommitError, ReadError, type Difference } from './commit-error.ts'
import { findApplied, type AppliedLookup } from './find-applied.ts'
import type { Header, OldState } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { applyDelta, runLength } from './delta.ts'
import { crcOfPieces } from './pieces.ts'
import { sizeOf } from './read-state.ts'
import { isInside } from './resolve-path.ts'
import { pathOf, type JournalEntry } from './commit-steps.ts'
import { transact } from './transact.ts'
import { openTree, realDirectory, type Tree } from './tree.ts'
import { withTreeLock } from './with-tree-lock.ts'

/** Options for an undo. */
export type UndoOptions = CommitOptions & { readonly only?: string }

/**
 * Reverts the last patch that was applied to a tree: it restores old bytes, modes and owners, and removes new files, as well as directories that were created
 * for the patch and are empty again. A tree that has been moved since then counts as the same tree; another directory at its old path doesn't. The undo is one
 * transaction; calling this function again reverts the patch before that one.
 *
 * @param options.only the id of the patch to revert. If another patch was applied last, the error is `nothing-to-undo`
 * @throws CommitError `changed`, which names all files that have changed since the patch; `nothing-to-undo` if there is no patch to revert;
 *   `unrecoverable` if its journal is damaged
 */
export async function undo(root: string, options: UndoOptions = {}): Promise<Report> {
  const real = realDirectory(root)
  const { signal, durable = false, now, alongside, stateDirectory } = options
  return withTreeLock(real, options, async (lock, recovered) => {
    const found = await findApplied(real, options.stateDirectory)
    if (found.type === 'none') throw await nothingToUndo(real, found, options.stateDirectory)
    const { header, bytesAt, journal } = found.applied
    if (options.only !== undefined && header.nonce !== options.only) {
      throw new CommitError('nothing-to-undo', { operation: 'undo', key: real })
    }
    const tree = openTree(real, { unsafePaths: header.unsafePaths })
    const changeSet = reverse(header, bytesAt, tree, journal)
    const elsewhere = header.alongside?.within ?? []
    const emptied = header.made.filter((path) => !elsewhere.some((directory) => isInside(path, directory)))
    const extras = { emptied, retires: [journal], canUndo: false }
    const outcome = await transact(changeSet, lock, extras, { durable, signal, now, alongside, stateDirectory })
    const report: Report = {
      id: nonceOf(lock.owner),
      root: real,
      summary: changeSet.summary,
      warnings: [...warningsAfter(outcome), ...(alongside === undefined ? gitStays(header) : [])],
      madeDirectories: outcome.made,
      canUndo: false,
      recovered,
    }
    return { report, outcome, retires: extras.retires }
  })
}

/** A warning if the patch also changed refs in a git directory. Its journal doesn't contain their old values. */
function gitStays({ alongside }: Header): readonly Warning[] {
  const [path] = alongside?.within ?? []
  if (path === undefined) return []
  const message = `the patch also set branches in ${path}, and these stay; "agent undo" reverts a whole run, with its branches`
  return [{ code: 'git-stays', message, path }]
}

/** Whether the patch with this id was applied to a tree and has not been reverted since, as far as the journals that are still kept show. */
export async function isApplied(root: string, id: string, stateDirectory?: string): Promise<boolean> {
  return (await findApplied(realDirectory(root), stateDirectory, id)).type === 'applied'
}

/** The id of the last patch that was applied to a tree and has not been reverted since, which is the one that `undo` reverts; undefined if there is none. */
export async function lastApplied(root: string, stateDirectory?: string): Promise<string | undefined> {
  const found = await findApplied(realDirectory(root), stateDirectory)
  return found.type === 'applied' ? found.applied.header.nonce : undefined
}

/**
 * The error for a tree in which there is nothing to undo. If a patch was applied under another path that leads to the same directory (such as a bind
 * mount), or to an enclosing directory, the error names that path, because the user may be in a subfolder of the patched tree.
 */
async function nothingToUndo(
  root: string,
  { replaced, alsoAt }: Extract<AppliedLookup, { type: 'none' }>,
  stateDirectory: string | undefined,
): Promise<CommitError> {
  const facts = { operation: 'undo', key: root, replaced } as const
  if (alsoAt !== undefined) return new CommitError('nothing-to-undo', { ...facts, appliedTo: alsoAt })
  for (let at = root; at !== dirname(at);) {
    at = dirname(at)
    const above = await findApplied(at, stateDirectory)
    if (above.type === 'applied') return new CommitError('nothing-to-undo', { ...facts, appliedTo: at })
  }
  return new CommitError('nothing-to-undo', facts)
}

/** The change set that restores the previous state. It is refused as a whole if any file has changed since the patch. */
function reverse(header: Header, bytesAt: number, tree: Tree, journal: string): ChangeSet {
  const differences: { path: string; key: string; how: Difference }[] = []
  const changes: Change[] = []
  let offset = bytesAt
  for (const { journalEntry, path, before } of header.steps) {
    const place: Place = { path, key: pathOf(journalEntry.target) }
    const isLarge = journalEntry.type !== 'remove' && journalEntry.fingerprint.size > heldSize
    const found = readAgain(place, tree, isLarge)
    // If the patch replaced this file with a directory, the undo removes the directory, so the file's path counts as absent.
    const givesWay = found.type === 'directory' && journalEntry.type === 'remove' && header.made.includes(place.key)
    const now: FileState = givesWay ? { type: 'absent' } : found
    const how = differs(now, journalEntry)
    if (how !== undefined) differences.push({ path, key: place.key, how })
    else {
      const change = bringBack(place, now, before, { journal, at: offset })
      if (change === undefined) throw new CommitError('unrecoverable', { operation: 'undo', journal, path })
      changes.push(change)
    }
    if (before.type === 'file') offset += runLength(before.delta)
  }
  if (differences.length > 0) throw new CommitError('changed', { operation: 'undo', differences })
  const summary = changes.map((change) => ({ kind: kindOf(change), path: change.place.path }))
  const within = header.within === undefined ? {} : { within: header.within }
  const directories: readonly DirectoryChange[] = [
    ...(header.removed ?? []).map(({ path: key, mode }) => ({ type: 'make' as const, key, mode })),
    ...(header.modes ?? []).flatMap(({ path: key, before, after }) =>
      before === undefined ? [] : [{ type: 'mode' as const, key, before: after, mode: before }],
    ),
  ]
  return { root: tree.root, ...within, unsafePaths: tree.unsafePaths, changes, directories, summary, warnings: [] }
}

/**
 * The change that restores the previous state of one file.
 *
 * @param runs where the journal stores the bytes that only the old file had
 * @returns undefined if the journal doesn't have the old content, or its bytes are damaged
 */
function bringBack(
  place: Place,
  now: FileState,
  old: OldState,
  runs: { readonly journal: string; readonly at: number },
): Change | undefined {
  switch (old.type) {
    case 'absent':
      return { type: 'remove', place, before: now }
    case 'symlink': {
      const link = { content: [], mode: undefined, owner: undefined, symlink: old.target }
      return { type: 'write', place, before: now, ...link }
    }
    case 'file': {
      const { mode, uid, gid, delta, attributes } = old
      const pieces = applyDelta(
        delta,
        (start, length) => ({ file: runs.journal, start: runs.at + start, length }),
        (start, length) =>
          now.type === 'file' ? now.bytes.subarray(start, start + length) : { file: place.key, start, length },
      )
      if (crcOfPieces(pieces) !== old.crc) return undefined
      const owner = { uid, gid }
      return { type: 'write', place, before: now, content: [], pieces, mode, owner, ...(attributes && { attributes }) }
    }
    case 'directory':
    case 'other':
    case 'unknown':
      return undefined
    default:
      return old satisfies never
  }
}

/** Files up to this size are held in memory. Larger ones are read in parts when their bytes are needed. */
const heldSize = 1024 * 1024

/** Treats every link as missing: the patch may have put a link in the place of a directory, and the files below a link are not those of the patch. */
const isLink = (): boolean => true

function readAgain(place: Place, tree: Tree, isLarge: boolean): FileState {
  try {
    return isLarge ? tree.look(place, undefined, isLink) : tree.read(place, isLink)
  } catch (error) {
    if (!(error instanceof ReadError)) throw error
    const { path, key, errno } = error
    throw new CommitError('system', { operation: 'undo', path, key, errno, cause: error })
  }
}

function kindOf(change: Change): 'A' | 'M' | 'D' {
  if (change.type === 'remove') return 'D'
  return change.before.type === 'absent' ? 'A' : 'M'
}

/** How the present file differs from the result of the patch. */
function differs(now: FileState, journalEntry: JournalEntry): Difference | undefined {
  if (journalEntry.type === 'remove') return now.type === 'absent' ? undefined : 'appeared'
  const { size, crc, mode, symlink } = journalEntry.fingerprint
  if (now.type === 'absent') return 'vanished'
  if (symlink !== undefined) {
    if (now.type !== 'symlink') return 'kind'
    return now.target === symlink ? undefined : 'content'
  }
  if (now.type !== 'file' && now.type !== 'unread') return 'kind'
  if (sizeOf(now) !== size) return 'size'
  if (mode !== undefined && now.mode !== mode) return 'mode'
  return (now.type === 'unread' ? now.crc : crc32(now.bytes)) === crc ? undefined : 'content'
}
