import { closeSync, fsyncSync, ftruncateSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoOf } from './commit-error.ts'
import type { Identity } from './directory-identity.ts'
import type { OwnerId } from './journal-owner.ts'
import type { Attributes } from './attribute-programs.ts'
import type { Delta } from './delta.ts'
import type { AlongsideEntries, Cleared, JournalEntry, ModeStep, Times } from './commit-steps.ts'
import { retryOnce } from './retry-once.ts'
import { writeChunks } from './write-all.ts'

/**
 * The first line of a journal, which describes its commit. A journal is one file. Its name shows its kind: `active-OWNER` (a running or interrupted
 * commit), `failed-OWNER` (a commit whose rollback or cleanup failed, no longer running), `applied-NUMBER-NONCE` (kept for `undo`).
 *
 * A journal contains a line of JSON (`Header`), the concatenated bytes that only the old files had, the line `ready`, then possibly the letter `L`
 * (new files are renamed into place, because links are not possible), and, once the commit can't fail any more, the letter `D`. Nothing is changed in
 * the tree before `ready` is written, so a journal without it needs no recovery.
 */
export type Header = Identity & {
  readonly version: 1
  readonly root: string
  /**
   * The trees below the root to which all paths in the journal, except those in `alongside`, must belong. If undefined, all paths below the root are
   * allowed.
   */
  readonly within?: readonly string[] | undefined
  readonly unsafePaths: boolean
  readonly nonce: string
  /** When the commit began, in milliseconds since 1970. */
  readonly at: number
  readonly steps: readonly JournalStep[]
  /** Parent directories that were created, outermost first. */
  readonly made: readonly string[]
  /** Directories that are moved aside first, because files replace them. */
  readonly cleared: readonly Cleared[]
  /** The times of the directories whose entries change, for a rollback. */
  readonly times: readonly Times[]
  /** Directories to remove at the end if they are empty: those that the change set removes and, for an undo, those that the patch created. */
  readonly emptied: readonly string[]
  /** Directories whose mode was set, parents first; undefined if there are none. */
  readonly modes?: readonly ModeStep[] | undefined
  /**
   * The directories in `emptied` that the change set itself removes, with their previous state, so that an undo can create them again; undefined if
   * there are none.
   */
  readonly removed?: readonly Cleared[] | undefined
  /** Files that change in the same transaction as the patch, although no patch may write them; undefined if there are none. */
  readonly alongside?: AlongsideEntries | undefined
  /** For an undo: paths of journals that this commit makes obsolete. */
  readonly retires: readonly string[]
  /** Whether the journal contains the old bytes. Only then can the patch be reverted later. */
  readonly canUndo: boolean
  /** How many bytes of old files follow the header. */
  readonly bytes: number
}

/** What a journal contains before the tree is changed. Steps and bytes are created while they are written, so that a commit of many files needs little memory. */
export type JournalContent = {
  readonly header: Omit<Header, 'steps'>
  readonly steps: () => Iterable<JournalStep>
  /** The bytes that only the old files had, in the order of the steps. */
  readonly bytes: () => Iterable<Uint8Array>
}

export type JournalStep = {
  readonly journalEntry: JournalEntry
  /** The path, as the patch spells it. */
  readonly path: string
  readonly before: OldState
}

/** The state of a path before the commit, without the file's bytes. */
export type OldState =
  /** `unknown` means that the previous state wasn't kept, so that the patch can't be reverted. */
  | { readonly type: 'absent' | 'directory' | 'other' | 'unknown' }
  | { readonly type: 'symlink'; readonly target: string }
  | {
      readonly type: 'file'
      readonly mode: number
      readonly uid: number
      readonly gid: number
      readonly size: number
      readonly crc: number
      readonly delta: Delta
      /** The extended attributes of the file; undefined if they are not known. */
      readonly attributes?: Attributes | undefined
    }

export const readyMark = 'ready\n'
export const linklessMark = 'L'
export const doneMark = 'D'

/** A commit's own journal, open for writing. */
export type Journal = {
  readonly path: string
  /** Writes the whole content, before the tree is changed. If the call fails, it can be repeated. */
  readonly begin: (chunks: Iterable<Uint8Array>, durable: boolean) => void
  /** Records that new files will be renamed into place. This must be called before the first file is renamed. */
  readonly markLinkless: (durable: boolean) => void
  /** Marks the point of no return. If writing fails, removes the mark again and throws the error; if removing fails too, throws that error. */
  readonly markDone: (durable: boolean) => void
  /** Moves the journal, which is empty again, to another folder. At any time, other runs see it in one of them. */
  readonly moveTo: (directory: string) => void
  /** Renames the journal to a name under which it is kept after the commit is over. */
  readonly keepAs: (name: string) => void
  /** Closes and removes the journal; nothing depends on it any more. */
  readonly discard: () => void
  readonly close: () => void
}

/** Creates the journal of a commit: from then on, other runs see that this commit is running. The file is still empty. */
export function createJournal(folder: string, owner: OwnerId): Journal {
  let directory = folder
  let path = join(directory, `active-${owner}`)
  let descriptor = openSync(path, 'wx', 0o600)
  let length = 0
  let open = true
  let isTried = false
  const mark = (letter: string, durable: boolean): void => {
    try {
      writeSync(descriptor, letter, length)
      if (durable) fsyncSync(descriptor)
      length += letter.length
    } catch (error) {
      ftruncateSync(descriptor, length)
      throw error
    }
  }
  const close = (): void => {
    if (open) closeSync(descriptor)
    open = false
  }
  return {
    get path() {
      return path
    },
    begin: (chunks, durable) => {
      // If a first attempt failed because the disk was too full, the header is written again, without the old bytes.
      if (isTried) ftruncateSync(descriptor, 0)
      isTried = true
      length = writeChunks(descriptor, chunks)
      if (durable) {
        fsyncSync(descriptor)
        syncDirectory(directory)
      }
    },
    markLinkless: (durable) => mark(linklessMark, durable),
    markDone: (durable) => mark(doneMark, durable),
    moveTo: (other) => {
      const next = join(other, basename(path))
      const opened = openSync(next, 'wx', 0o600)
      const old = path
      close()
      ;[directory, path, descriptor, length, open, isTried] = [other, next, opened, 0, true, false]
      retryOnce(() => unlinkSync(old))
    },
    keepAs: (name) => {
      renameSync(path, join(directory, name))
      path = join(directory, name)
    },
    discard: () => {
      close()
      // A journal that is left over at this point does no harm: it only shows that nothing has to be done for its tree, and the next run discards it.
      retryOnce(() => unlinkSync(path))
    },
    close,
  }
}

/** The names of the journals of one kind in a folder, sorted. Those of applied patches are then in the order in which the patches were applied. */
export function listJournals(directory: string, kind: 'active' | 'failed' | 'applied'): readonly string[] {
  try {
    return readdirSync(directory)
      .filter((name) => name.startsWith(`${kind}-`))
      .toSorted()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return []
    throw error
  }
}

function syncDirectory(path: string): void {
  const descriptor = openSync(path, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
