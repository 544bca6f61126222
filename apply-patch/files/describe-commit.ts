import type { ChangeSet } from '../change-set.ts'
import type { Attributes } from './attribute-programs.ts'
import type { TreeLock } from './tree-lock.ts'
import { crc32 } from './crc32.ts'
import { identityOf } from './directory-identity.ts'
import type { Work } from './install.ts'
import type { Header, OldState } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { findDelta, wholeDelta } from './delta.ts'
import type { DirectoryPlan } from './directory-changes.ts'
import type { Entry, Step } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { chunksOf } from './pieces.ts'
import type { Extras, Options } from './transaction-options.ts'

/** The journal's description of a commit, and the bytes that only the old files had. */
export function describeCommit(
  changeSet: ChangeSet,
  plan: Pick<Work, 'steps' | 'made' | 'cleared' | 'locks' | 'directories' | 'attributes'> &
    DirectoryPlan &
    Pick<Header, 'times'>,
  lock: TreeLock,
  extras: Extras,
  options: Options,
): { readonly header: Header; readonly bytes: () => Iterable<Uint8Array> } {
  const { alongside } = options
  const own = plan.steps.slice(0, changeSet.changes.length)
  const isEmpty = alongside !== undefined && own.length + (changeSet.directories ?? []).length === 0
  const canUndo = !isEmpty && extras.canUndo && own.every(({ change }) => change.before.type !== 'other')
  const found = canUndo ? own.map((step) => oldOf(step, plan.attributes.before(step))) : []
  const rest = plan.steps.slice(own.length).map(({ journalEntry }) => journalEntry)
  const total = found.reduce((sum, { length }) => sum + length, 0)
  const header: Header = {
    version: 1,
    root: changeSet.root,
    ...(identityOf(changeSet.root) ?? { rootInode: '' }),
    ...(changeSet.within === undefined ? {} : { within: changeSet.within }),
    unsafePaths: changeSet.unsafePaths,
    nonce: nonceOf(lock.owner),
    // No `Date` object is used: creating the first one determines the time zone, which takes as long as the rest of a small commit.
    at: options.now?.().getTime() ?? Date.now(),
    steps: own.map(({ change, journalEntry }, index) => ({
      journalEntry,
      path: change.place.path,
      before: found[index]?.before ?? { type: 'unknown' },
    })),
    made: plan.made,
    cleared: plan.cleared,
    times: plan.times,
    emptied: extras.emptied,
    ...(plan.modes.length === 0 ? {} : { modes: plan.modes }),
    ...(plan.removed.length === 0 ? {} : { removed: plan.removed }),
    retires: extras.retires,
    ...(alongside === undefined ? {} : { alongside: { within: alongside.within, steps: rest, locks: plan.locks } }),
    canUndo,
    bytes: total,
  }
  return { header, bytes: () => bytesOf(found, plan.directories) }
}

/** The description of a commit without the data for an undo. */
export function withoutUndo(header: Header): Header {
  const steps = header.steps.map((step) => ({ ...step, before: { type: 'unknown' } as const }))
  return { ...header, steps, canUndo: false, bytes: 0 }
}

/**
 * The previous state of a path. `runs` contains the bytes that only the old file had. It is undefined if there was no file, or if the file wasn't
 * read into memory; the journal then keeps all `length` bytes of the file.
 */
type Old = { readonly before: OldState; readonly length: number; readonly entry: Entry; readonly runs?: Buffer }

/** The previous content in the form that the journal stores. The checksum shows later whether the content was restored correctly. */
function oldOf({ change, journalEntry: { target } }: Step, known: Attributes | undefined): Old {
  const { before } = change
  if (before.type === 'symlink') return { before: { type: 'symlink', target: before.target }, length: 0, entry: target }
  if (before.type !== 'file' && before.type !== 'unread') {
    return { before: { type: before.type }, length: 0, entry: target }
  }
  const { mode, uid, gid } = before
  const attributes = known === undefined ? {} : { attributes: known }
  if (before.type === 'unread') {
    const { size, crc } = before
    return {
      before: { type: 'file', mode, uid, gid, size, crc, delta: wholeDelta(size), ...attributes },
      length: size,
      entry: target,
    }
  }
  const { bytes } = before
  const { delta, runs } =
    change.type === 'write' ? findDelta(bytes, change.content) : { delta: wholeDelta(bytes.length), runs: bytes }
  const old: OldState = { type: 'file', mode, uid, gid, size: bytes.length, crc: crc32(bytes), delta, ...attributes }
  return { before: old, length: runs.length, entry: target, runs }
}

/** The bytes of old files that the journal keeps. Bytes that aren't in memory are read from their file when they are requested. */
function* bytesOf(all: readonly Old[], directories: Directories): Iterable<Uint8Array> {
  for (const { length, runs, entry } of all) {
    if (length === 0) continue
    if (runs !== undefined) yield runs
    else yield* chunksOf([{ file: directories.entry(entry.directory, entry.name), start: 0, length }])
  }
}
