/** The state of a path in the tree, as it was read. `bytes` is the whole content, never decoded. */
export type FileState =
  | { readonly type: 'absent' }
  | ({ readonly type: 'file'; readonly bytes: Buffer } & FileFacts)
  /** A file that was read once, and whose bytes weren't kept in memory; `crc` is their CRC-32. */
  | ({ readonly type: 'unread'; readonly size: number; readonly crc: number } & FileFacts)
  | { readonly type: 'symlink'; readonly target: string; readonly device: bigint; readonly inode: bigint }
  | { readonly type: 'directory' }
  /** A device, a socket or a pipe. It is never read or written. */
  | { readonly type: 'other' }

/** The facts about a regular file besides its bytes. */
type FileFacts = {
  /** Only the permission bits, e.g. `0o755`. */
  readonly mode: number
  readonly uid: number
  readonly gid: number
  readonly device: bigint
  readonly inode: bigint
  readonly modifiedNs: bigint
  readonly changedNs: bigint
  /** The number of hard links to the file, including the one at this path. */
  readonly links: number
  /**
   * Whether the file had been unchanged for long enough when it was read. If so, any later write gives the file a different change time. If not,
   * bytes must be compared to notice a write.
   */
  readonly settled?: boolean
}

/** A path in a patch, resolved against the root. Two spellings of one file have the same `key`. */
export type Place = {
  /** The path, as the patch spells it. */
  readonly path: string
  /** The absolute path, without `.`, `..` or symlinks in its directories. It identifies the file in plans and in the commit. */
  readonly key: string
}

/** New content as pieces that are written one after another. Unchanged parts are views of the old file's bytes, not copies. */
export type Content = readonly Uint8Array[]

/**
 * A part of new content: bytes, or a range of a file. The range is read only when the new content is written, so a large file is never in memory as a whole.
 */
export type Piece = Uint8Array | { readonly file: string; readonly start: number; readonly length: number }

/** The change to one file. A change set names each `key` at most once. */
export type Change =
  | {
      readonly type: 'write'
      readonly place: Place
      readonly before: FileState
      readonly content: Content
      /** New content that can include ranges of files, which are read only when the content is written. If `pieces` is set, `content` is empty. */
      readonly pieces?: readonly Piece[]
      /** The file's permission bits; `undefined` means the default for new files under the umask. */
      readonly mode: number | undefined
      /** The owner that an updated or moved file keeps, if the current user may set it. If it is `undefined`, the file belongs to the current user. */
      readonly owner: { readonly uid: number; readonly gid: number } | undefined
      /** The place from which the patch moves the file to `place`. Undefined if the patch doesn't move the file. */
      readonly movedFrom?: Place
      /** Whether the file is replaced even if it is read-only. If undefined, the commit refuses to replace a read-only file. */
      readonly evenReadOnly?: true
      /** Whether the content is written to disk before the file appears, even if the rest of the commit isn't. Default: only if the commit is durable. */
      readonly isSynced?: true
      /**
       * The extended attributes of the file, with values in hexadecimal (`0x…`). If they are undefined, it has those of the file that it replaces or is moved
       * from.
       */
      readonly attributes?: Readonly<Record<string, string>>
      /** Whether the file loses the capabilities (capabilities(7)) of the file that it replaces, as when it is written to in place. Default: it keeps them. */
      readonly isUnprivileged?: true
      /** Creates a symbolic link with this target instead of a file (when a patch moves a link). If this is set, `content` is empty. */
      readonly symlink?: string
    }
  | { readonly type: 'remove'; readonly place: Place; readonly before: FileState; readonly movedTo?: Place }

/**
 * A change to a directory itself. No such change is needed for the parent directories of new files, which are created automatically. A directory is
 * removed only if it is empty at the end, so it stays if somebody else has added an entry to it. `key` has the same form as that of a `Place`.
 */
export type DirectoryChange =
  /** Creates a directory with the permission bits `mode`; if undefined, with the default under the umask. An existing directory stays as it is. */
  | { readonly type: 'make'; readonly key: string; readonly mode?: number }
  | { readonly type: 'remove'; readonly key: string }
  /** Sets the directory's permission bits to `mode`. The change is refused if the current bits differ from `before`. */
  | { readonly type: 'mode'; readonly key: string; readonly before: number; readonly mode: number }

/** One line of the summary: an operation, and the path as the patch spells it. A move is listed as `M` with its destination. */
export type SummaryLine = { readonly kind: 'A' | 'M' | 'D'; readonly path: string }

/** A patch planned against a tree. All new contents have been computed, but nothing has been written yet. */
export type ChangeSet = {
  /** Absolute real path of the tree that contains all changes. With `unsafePaths`, changes can also be elsewhere. */
  readonly root: string
  /** The only trees below the root that may be changed; absolute real paths. If undefined, the whole tree may be changed. */
  readonly within?: readonly string[]
  readonly unsafePaths: boolean
  readonly changes: readonly Change[]
  /** Changes to directories. If undefined, only the directories that new files need are created. */
  readonly directories?: readonly DirectoryChange[]
  readonly summary: readonly SummaryLine[]
  /** Facts that a careful user should know, such as fuzzy or ambiguous matches, and overwritten files. */
  readonly warnings: readonly Warning[]
}

/** Something that worked but deserves attention. `code` is stable, `message` is for people. */
export type Warning = {
  readonly code: string
  readonly message: string
  readonly path?: string
  /** The 1-based number of the patch line that the warning is about. */
  readonly patchLine?: number
  /** The 1-based line numbers, in the file, of all candidates of an ambiguous match. */
  readonly fileLines?: readonly number[]
}
