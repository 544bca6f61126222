/** A request to the file helper, sent as one line of JSON. Paths are absolute. */
export type FileRequest = {
  readonly id: number
} & FileOperation

export type FileOperation =
  /** Reads the first `limit` bytes of a file. */
  | { readonly op: 'read'; readonly path: string; readonly limit: number }
  /** Lists a directory, sorted by name. */
  | { readonly op: 'list'; readonly path: string; readonly limit: number }
  /**
   * Finds the files below a directory, except those that git ignores or, outside a repository, those in `.git` and `node_modules`. A glob with a
   * slash is matched against paths relative to the directory, and one without a slash against file names.
   */
  | { readonly op: 'find'; readonly path: string; readonly glob: string | undefined; readonly limit: number }
  /** Finds lines that match a regular expression, in one file or in the files that `find` would find. */
  | {
      readonly op: 'search'
      readonly path: string
      readonly glob: string | undefined
      readonly pattern: string
      /** A text that every match contains. Absent if none is known. */
      readonly required?: string | undefined
      readonly ignoreCase: boolean
      readonly multiline: boolean
      /** How many lines to show before and after a match. */
      readonly context: number
      readonly limit: number
    }

/** The first line of an answer. A payload of `bytes` bytes follows it. */
export type FileAnswer = { readonly id: number; readonly bytes: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: FileErrorCode; readonly message: string }
)

/**
 * Why something could not be read. `refused`: the sandbox or the file's permissions forbid it. `pattern`: the regular expression is
 * invalid.
 */
export type FileErrorCode = 'absent' | 'directory' | 'not-a-directory' | 'not-a-file' | 'refused' | 'pattern' | 'failed'

/** The value in the answer to `read`. The bytes themselves are in the payload. */
export type ReadValue = { readonly size: number }

/** `stopped`: after how many entries or how much time the rest was left out. Undefined if everything was looked at. */
type Stopped = { readonly stopped?: string | undefined }

/** The value in the answer to `list`. */
export type ListValue = { readonly entries: readonly DirectoryEntry[]; readonly total: number } & Stopped

export type DirectoryEntry = {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  /** The size in bytes; 0 if the entry is not a file. */
  readonly size: number
}

/** The value in the answer to `find`: relative paths, the most recently changed first, and the total number. */
export type FindValue = { readonly paths: readonly string[]; readonly total: number } & Stopped

/** The value in the answer to `search`. Paths are absolute. */
export type SearchValue = {
  readonly files: readonly FileMatches[]
  /** The number of matching lines in all files, including those that are not shown. */
  readonly total: number
} & Stopped

export type FileMatches = {
  readonly path: string
  readonly lines: readonly { readonly number: number; readonly text: string; readonly matches: boolean }[]
  readonly count: number
}
