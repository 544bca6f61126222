import { closeSync, fsyncSync, ftruncateSync, openSync, readdirSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { errnoOf } from './commit-error.ts'
import type { Identity } from './directory-identity.ts'
import type { OwnerId } from './journal-owner.ts'
import type { Delta } from './delta.ts'
import type { AlongsideEntries, Cleared, JournalEntry, ModeStep } from './commit-steps.ts'
import { retryOnce } from './retry-once.ts'
import { writeAll } from './write-all.ts'

/**
 * A journal is one file. Its name says what it is: `active-OWNER` (a commit at work, or cut off), `failed-OWNER` (one
 * whose rollback failed: no longer at work), `applied-WHEN-NONCE` (kept for `undo`).
 *
 * It holds a line of JSON (`Header`), the bytes that only the old files had one after the other, the line `ready`, then
 * perhaps the letter `L` (new files are renamed into place, links not being possible), and, once nothing can go wrong
 * any more, the letter `D`. Before `ready` is written nothing is done in the tree, so a
 * journal without it needs no recovery.
 */
export type Header = Identity & {
  readonly version: 1
  readonly root: string
  /** The only trees below the root that it may name. Absent: all of it. */
  readonly within?: readonly string[] | undefined
  readonly unsafePaths: boolean
  readonly nonce: string
  /** When the commit began, in milliseconds. */
  readonly at: number
  readonly steps: readonly JournalStep[]
  /** Directories made on the way, parents first. */
  readonly made: readonly string[]
  /** Directories that are in the way of files and go before these come: an undo's. */
  readonly cleared: readonly Cleared[]
  /** Directories to remove at the end if they are empty: an undo's. */
  readonly emptied: readonly string[]
  /** Directories that were given a mode, parents first. Absent: none. */
  readonly modes?: readonly ModeStep[] | undefined
  /** Those of `emptied` that a change set named, as they were, for an undo. Absent: none. */
  readonly removed?: readonly Cleared[] | undefined
  /** Files that change with these, where no patch may write. Absent: none. */
  readonly alongside?: AlongsideEntries | undefined
  /** Paths of journals that this commit makes obsolete: an undo's. */
  readonly retires: readonly string[]
  /** Whether the old bytes are here, so that the patch can be taken back later. */
  readonly canUndo: boolean
  /** How many old bytes follow. */
  readonly bytes: number
}

type JournalStep = {
  readonly journalEntry: JournalEntry
  /** As the patch spells it. */
  readonly path: string
  readonly before: OldState
}

/** What was there, its bytes apart. */
export type OldState =
  /** `unknown`: not kept, as the patch can't be taken back. */
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
    }

export const readyMark = 'ready\n'
export const linklessMark = 'L'
export const doneMark = 'D'

/** A commit's own journal, open for writing. */
export type Journal = {
  readonly path: string
  /** Writes all there is to know, before anything is done in the tree. */
  readonly begin: (header: Header, bytes: readonly Uint8Array[], durable: boolean) => void
  /** Says that new files will be renamed into place, before the first one is. */
  readonly markLinkless: (durable: boolean) => void
  /** The point of no return. A failure takes the mark back, or says that it could not. */
  readonly markDone: (durable: boolean) => void
  /** Keeps it under another name. */
  readonly keepAs: (name: string) => void
  /** Closes and removes it; nothing depends on it any more. */
  readonly discard: () => void
  readonly close: () => void
}

/** Creates the journal of a commit: from here on other runs know of us. Nothing is written yet. */
export function createJournal(directory: string, owner: OwnerId): Journal {
  let path = join(directory, `active-${owner}`)
  const descriptor = openSync(path, 'wx', 0o600)
  let length = 0
  let open = true
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
    begin: (header, bytes, durable) => {
      const line = Buffer.from(`${JSON.stringify(toStored(header))}\n`)
      length = writeAll(descriptor, [line, ...bytes, Buffer.from(readyMark)])
      if (durable) {
        fsyncSync(descriptor)
        syncDirectory(directory)
      }
    },
    markLinkless: (durable) => mark(linklessMark, durable),
    markDone: (durable) => mark(doneMark, durable),
    keepAs: (name) => {
      renameSync(path, join(directory, name))
      path = join(directory, name)
    },
    discard: () => {
      close()
      // A journal that stays says of a tree in order only that it is: the next run discards it.
      retryOnce(() => unlinkSync(path))
    },
    close,
  }
}

/** The journals of a folder by kind, oldest first. */
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

/** A header with the names that the format has for its parts, as `journal-schema.ts` reads them back. */
function toStored({ steps, alongside, ...rest }: Header): object {
  const stored = { ...rest, steps: steps.map(toStoredStep) }
  if (alongside === undefined) return stored
  const entries = { steps: alongside.steps.map(toStoredEntry), locks: alongside.locks.map(toStoredEntry) }
  return { ...stored, alongside: { ...alongside, ...entries } }
}

function toStoredStep({ journalEntry, path, before }: JournalStep): object {
  const { delta, ...old } = before.type === 'file' ? before : { ...before, delta: undefined }
  return { trace: toStoredEntry(journalEntry), path, before: delta === undefined ? old : { ...old, recipe: delta } }
}

function toStoredEntry(journalEntry: JournalEntry): object {
  if (journalEntry.type === 'remove') return journalEntry
  const { fingerprint, ...rest } = journalEntry
  return { ...rest, print: fingerprint }
}
