/** What the file helper is asked, one JSON object a line. Paths are absolute. */
export type FileRequest = {
  readonly id: number
} & FileOperation

export type FileOperation =
  /** The first `limit` bytes of a file. */
  | { readonly op: 'read'; readonly path: string; readonly limit: number }
  /** What a directory holds, sorted by name. */
  | { readonly op: 'list'; readonly path: string; readonly limit: number }
  /** Files below a directory that git doesn't ignore, by a glob over their path below it (or their name, for one without a slash). */
  | { readonly op: 'find'; readonly path: string; readonly glob: string | undefined; readonly limit: number }
  /** Lines of such files, or of one file, that a regular expression matches. */
  | {
      readonly op: 'search'
      readonly path: string
      readonly glob: string | undefined
      readonly pattern: string
      /** A text that every match contains. Absent: none is known. */
      readonly required?: string | undefined
      readonly ignoreCase: boolean
      readonly multiline: boolean
      /** Lines shown before and after a match. */
      readonly context: number
      readonly limit: number
    }

/** The first line of an answer; `bytes` of payload follow it. */
export type FileAnswer = { readonly id: number; readonly bytes: number } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: FileErrorCode; readonly message: string }
)

/** Why something could not be read. `refused`: the sandbox or the file's mode; `pattern`: the expression is wrong. */
export type FileErrorCode = 'absent' | 'directory' | 'not-a-directory' | 'not-a-file' | 'refused' | 'pattern' | 'failed'

/** Value of `read`; the bytes are the payload. */
export type ReadValue = { readonly size: number }

/** Value of `list`. */
export type ListValue = { readonly entries: readonly DirectoryEntry[]; readonly total: number }

export type DirectoryEntry = {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'symlink' | 'other'
  /** In bytes; files only. */
  readonly size: number
}

/** Value of `find`: paths below the directory, the most recently changed first, and how many there are in all. */
export type FindValue = { readonly paths: readonly string[]; readonly total: number }

/** Value of `search`. Paths are absolute. */
export type SearchValue = {
  readonly files: readonly FileMatches[]
  /** Matching lines in all files, shown or not. */
  readonly total: number
}

export type FileMatches = {
  readonly path: string
  readonly lines: readonly { readonly number: number; readonly text: string; readonly matches: boolean }[]
  readonly count: number
}
