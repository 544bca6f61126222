import type { Change } from '../change-set.ts'

/** An entry of a directory. */
export type Entry = { readonly directory: string; readonly name: string }

/** Facts about new content, stored instead of the content itself: enough to tell whether a file is still as a patch left it. */
export type Fingerprint = {
  readonly size: number
  readonly crc: number
  /** The mode; undefined if the system chose it. */
  readonly mode: number | undefined
  /** The link's target, if the entry is a link instead of a file. */
  readonly symlink: string | undefined
}

/**
 * What a commit does to one entry, with everything that is needed to undo it. `fresh` is our temporary name for the new content, `old` is our temporary
 * name for the previous file. At any time, the presence of these names shows how far the step has come:
 *
 * - `add`: installed if fresh and target are the same file.
 * - `replace`: installed if old exists and fresh doesn't.
 * - `remove`: removed if old exists.
 */
export type JournalEntry =
  | { readonly type: 'add'; readonly target: Entry; readonly fresh: Entry; readonly fingerprint: Fingerprint }
  | {
      readonly type: 'replace'
      readonly target: Entry
      readonly fresh: Entry
      readonly old: Entry
      readonly fingerprint: Fingerprint
    }
  | { readonly type: 'remove'; readonly target: Entry; readonly old: Entry }

/** A lock file. It is created like an added file, and is always removed again at the end. */
export type LockEntry = Extract<JournalEntry, { type: 'add' }>

/** The journal's facts about the files that change in the same transaction as a commit. */
export type AlongsideEntries = {
  readonly within: readonly string[]
  readonly steps: readonly JournalEntry[]
  readonly locks: readonly LockEntry[]
}

export type InstallEntry = Exclude<JournalEntry, { type: 'remove' }>
type RemoveEntry = Extract<JournalEntry, { type: 'remove' }>

export type WriteChange = Extract<Change, { type: 'write' }>
export type RemoveChange = Extract<Change, { type: 'remove' }>

/** A change, and the names of the files that are used to make it. */
export type Step =
  | {
      readonly type: 'install'
      readonly change: WriteChange
      readonly journalEntry: InstallEntry
      /** For a pure rename, the entry whose inode is reused; undefined if new content is written. */
      readonly renamed: Entry | undefined
    }
  | { readonly type: 'remove'; readonly change: RemoveChange; readonly journalEntry: RemoveEntry }

/** A directory that a commit removes before its point of no return, and the facts needed to create it again. */
export type Cleared = { readonly path: string; readonly mode: number; readonly uid: number; readonly gid: number }

/** A directory whose mode a commit sets as its last step. `before` is undefined if the commit creates the directory. */
export type ModeStep = { readonly path: string; readonly before: number | undefined; readonly after: number }

/** The path of an entry, for messages. */
export function pathOf({ directory, name }: Entry): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}
