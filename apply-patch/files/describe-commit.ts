import type { ChangeSet } from '../change-set.ts'
import type { Attributes } from './attribute-programs.ts'
import type { TreeLock } from './tree-lock.ts'
import { crc32 } from './crc32.ts'
import { identityOf } from './directory-identity.ts'
import type { Work } from './install.ts'
import type { Header, JournalContent, OldState } from './journal.ts'
import { nonceOf } from './journal-owner.ts'
import { findDelta, runLength, runsOf, wholeDelta, type Delta } from './delta.ts'
import type { DirectoryPlan } from './directory-changes.ts'
import type { Step } from './commit-steps.ts'
import type { Directories } from './directories.ts'
import { chunksOf } from './pieces.ts'
import { sizeOf } from './read-state.ts'
import type { Extras, Options } from './transaction-options.ts'

/** What the journal says about a commit. */
export function describeCommit(
  changeSet: ChangeSet,
  plan: Pick<Work, 'steps' | 'made' | 'cleared' | 'locks' | 'directories' | 'attributes'> &
    DirectoryPlan &
    Pick<Header, 'times'>,
  lock: TreeLock,
  extras: Extras,
  options: Options,
): JournalContent {
  const { alongside } = options
  const own = plan.steps.slice(0, changeSet.changes.length)
  const isEmpty = alongside !== undefined && own.length + (changeSet.directories ?? []).length === 0
  const canUndo = !isEmpty && extras.canUndo && own.every(({ change }) => change.before.type !== 'other')
  const rest = plan.steps.slice(own.length).map(({ journalEntry }) => journalEntry)
  const header: JournalContent['header'] = {
    version: 1,
    root: changeSet.root,
    ...(identityOf(changeSet.root) ?? { rootInode: '' }),
    ...(changeSet.within === undefined ? {} : { within: changeSet.within }),
    unsafePaths: changeSet.unsafePaths,
    nonce: nonceOf(lock.owner),
    // No `Date` object is used: creating the first one determines the time zone, which takes as long as the rest of a small commit.
    at: options.now?.().getTime() ?? Date.now(),
    made: plan.made,
    cleared: plan.cleared,
    times: plan.times,
    emptied: extras.emptied,
    ...(plan.modes.length === 0 ? {} : { modes: plan.modes }),
    ...(plan.removed.length === 0 ? {} : { removed: plan.removed }),
    retires: extras.retires,
    ...(alongside === undefined ? {} : { alongside: { within: alongside.within, steps: rest, locks: plan.locks } }),
    canUndo,
    bytes: canUndo ? own.reduce((sum, step) => sum + runLength(deltaOf(step)), 0) : 0,
  }
  return {
    header,
    steps: function* () {
      for (const step of own) {
        const before = canUndo ? stateOf(step, plan.attributes.before(step)) : unknown
        yield { journalEntry: step.journalEntry, path: step.change.place.path, before }
      }
    },
    bytes: function* () {
      for (const step of canUndo ? own : []) yield* oldBytes(step, plan.directories)
    },
  }
}

const unknown: OldState = { type: 'unknown' }

/** The description of a commit without the data for an undo. */
export function withoutUndo({ header, steps }: JournalContent): JournalContent {
  return {
    header: { ...header, canUndo: false, bytes: 0 },
    steps: function* () {
      for (const step of steps()) yield { ...step, before: unknown }
    },
    bytes: () => [],
  }
}

/** How the old file of a step is restored from the new one. It is computed whenever it is needed, because those of all files would take much memory. */
function deltaOf({ change }: Step): Delta {
  const { before } = change
  if (before.type === 'unread') return wholeDelta(before.size)
  if (before.type !== 'file') return []
  return change.type === 'write' ? findDelta(before.bytes, change.content) : wholeDelta(before.bytes.length)
}

/** The previous state in the form that the journal stores. The checksum shows later whether the content was restored correctly. */
function stateOf(step: Step, attributes: Attributes | undefined): OldState {
  const { before } = step.change
  if (before.type === 'symlink') return { type: 'symlink', target: before.target }
  if (before.type !== 'file' && before.type !== 'unread') return { type: before.type }
  const { mode, uid, gid } = before
  const crc = before.type === 'unread' ? before.crc : crc32(before.bytes)
  const delta = deltaOf(step)
  return { type: 'file', mode, uid, gid, size: sizeOf(before), crc, delta, ...(attributes && { attributes }) }
}

/** The bytes of an old file that the journal keeps. Bytes that aren't in memory are read from the file. */
function oldBytes(step: Step, directories: Directories): Iterable<Uint8Array> {
  const { before } = step.change
  if (before.type === 'file') return runsOf(before.bytes, deltaOf(step))
  const { directory, name } = step.journalEntry.target
  if (before.type !== 'unread') return []
  return chunksOf([{ file: directories.entry(directory, name), start: 0, length: before.size }])
}
