import type { ChangeSet } from '../change-set.ts'
import type { TreeLock } from './tree-lock.ts'
import { crc32 } from './crc32.ts'
import { identityOf } from './directory-identity.ts'
import type { Work } from './install.ts'
import type { Header, OldState } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { findDelta, wholeDelta } from './delta.ts'
import type { DirectoryPlan } from './directory-changes.ts'
import type { Step } from './commit-steps.ts'
import type { Extras, Options } from './transaction-options.ts'

/** The journal's description of a commit, and the bytes that only the old files had. */
export function describeCommit(
  changeSet: ChangeSet,
  plan: Pick<Work, 'steps' | 'made' | 'cleared' | 'locks'> & DirectoryPlan,
  lock: TreeLock,
  extras: Extras,
  options: Options,
): { readonly header: Header; readonly bytes: readonly Uint8Array[] } {
  const { alongside } = options
  const own = plan.steps.slice(0, changeSet.changes.length)
  const isEmpty = alongside !== undefined && own.length + (changeSet.directories ?? []).length === 0
  const isWanted = !isEmpty && extras.undoLimit >= 0 && own.every(({ change }) => change.before.type !== 'other')
  const found = isWanted ? own.map(oldOf) : []
  const rest = plan.steps.slice(own.length).map(({ journalEntry }) => journalEntry)
  const total = found.reduce((sum, { runs }) => sum + runs.length, 0)
  const canUndo = isWanted && total <= extras.undoLimit
  const header: Header = {
    version: 1,
    root: changeSet.root,
    ...(identityOf(changeSet.root) ?? { rootInode: '' }),
    ...(changeSet.within === undefined ? {} : { within: changeSet.within }),
    unsafePaths: changeSet.unsafePaths,
    nonce: nonceOf(lock.owner),
    // Not from a `Date` object: creating the first one determines the time zone, which takes as long as the rest of a small commit.
    at: options.now?.().getTime() ?? Date.now(),
    steps: own.map(({ change, journalEntry }, index) => ({
      journalEntry,
      path: change.place.path,
      before: (canUndo ? found[index]?.before : undefined) ?? { type: 'unknown' },
    })),
    made: plan.made,
    cleared: plan.cleared,
    emptied: extras.emptied,
    ...(plan.modes.length === 0 ? {} : { modes: plan.modes }),
    ...(plan.removed.length === 0 ? {} : { removed: plan.removed }),
    retires: extras.retires,
    ...(alongside === undefined ? {} : { alongside: { within: alongside.within, steps: rest, locks: plan.locks } }),
    canUndo,
    bytes: canUndo ? total : 0,
  }
  return { header, bytes: canUndo ? found.map(({ runs }) => runs) : [] }
}

const nothing = Buffer.alloc(0)

/** The previous content in the journal's form; the checksum protects its reconstruction. */
function oldOf({ change }: Step): { readonly before: OldState; readonly runs: Buffer } {
  const { before } = change
  if (before.type === 'symlink') return { before: { type: 'symlink', target: before.target }, runs: nothing }
  if (before.type !== 'file') return { before: { type: before.type }, runs: nothing }
  const { mode, uid, gid, bytes } = before
  const { delta, runs } =
    change.type === 'write' ? findDelta(bytes, change.content) : { delta: wholeDelta(bytes.length), runs: bytes }
  return { before: { type: 'file', mode, uid, gid, size: bytes.length, crc: crc32(bytes), delta }, runs }
}
