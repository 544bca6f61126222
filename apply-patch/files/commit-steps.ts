import type { Change } from '../change-set.ts'

/** An entry of a directory. */
export type Entry = { readonly directory: string; readonly name: string }

/** Facts about new content. They are stored instead of the content itself, and are enough to tell whether a file is still as the patch left it. */
export type Fingerprint = {
  readonly size: number
  readonly crc: number
  /** The permission bits; undefined if the system chose them. */
  readonly mode: number | undefined
  /** The link's target, if the entry is a link instead of a file. */
  readonly symlink: string | undefined
}

/**
 * What a commit does to one entry, with everything that is needed to undo it. `fresh` is the temporary name of the new content, and `old` is the
 * temporary name of the previous file. At any time, these names show how far the commit has progressed:
 *
 * - `add`: the new file is installed if `fresh` and `target` are the same file or, where hard links are not possible, if `fresh` doesn't exist and
 *   `target` has the content in `fingerprint`.
 * - `replace`: the new file is installed if `old` exists and `fresh` doesn't.
 * - `remove`: the file is removed if `old` exists.
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

/** What the journal stores about files that change in the same transaction as a patch. The patch itself must not name them. */
export type AlongsideEntries = {
  readonly within: readonly string[]
  readonly steps: readonly JournalEntry[]
  readonly locks: readonly LockEntry[]
}

export type InstallEntry = Exclude<JournalEntry, { type: 'remove' }>
type RemoveEntry = Extract<JournalEntry, { type: 'remove' }>

export type WriteChange = Extract<Change, { type: 'write' }>
export type RemoveChange = Extract<Change, { type: 'remove' }>

/** A change, and the temporary names that are used to make it. */
export type Step =
  | {
      readonly type: 'install'
      readonly change: WriteChange
      readonly journalEntry: InstallEntry
      /** For a pure rename, the entry whose inode is reused; undefined if new content is written. */
      readonly renamed: Entry | undefined
    }
  | { readonly type: 'remove'; readonly change: RemoveChange; readonly journalEntry: RemoveEntry }

/**
 * A directory that a commit removes, and the facts needed to create it again. `aside`: the temporary name that it gets, with everything in it, until the
 * commit is complete; undefined if it is removed with a directory above it, or only at the end.
 */
export type Cleared = {
  readonly path: string
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly aside?: Entry | undefined
}

/** The times of a directory before a commit changes its entries, in nanoseconds since 1970. */
export type Times = { readonly path: string; readonly accessed: string; readonly modified: string }

/** A directory whose mode a commit sets as its last step. `before` is undefined if the commit creates the directory. */
export type ModeStep = { readonly path: string; readonly before: number | undefined; readonly after: number }

/** The path of an entry, for messages. */
export function pathOf({ directory, name }: Entry): string {
  return directory === '/' ? `/${name}` : `${directory}/${name}`
}
