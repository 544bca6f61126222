import { shareInstanceof } from './share-instanceof.ts'

/**
 * The error for a patch that was refused, because it is malformed or can't be applied as a whole. Nothing was changed.
 *
 * @example
 * try {
 *   parsePatch('nonsense')
 * } catch (error) {
 *   if (error instanceof PatchError) console.error(error.code, error.failures.length)
 * }
 */
export class PatchError extends Error {
  /**
   * `malformed`: the patch violates the format. `not-applied`: it doesn't fit the tree. `not-reversible`: it lacks information that reverting it
   * would need. `not-expressible`: thrown by `diffToPatch` for a difference that the format can't express.
   */
  readonly code: 'malformed' | 'not-applied' | 'not-reversible' | 'not-expressible'
  /** The reasons why the patch was refused, in the order of the patch. There is at least one. */
  readonly failures: readonly Failure[]
  /** False if there were more than `failureLimit` reasons, in which case the rest of the patch was not examined. */
  readonly complete: boolean

  constructor(code: PatchError['code'], failures: readonly Failure[]) {
    super(failures[0] === undefined ? code : `${code}: ${failures[0].code}`)
    this.name = 'PatchError'
    this.code = code
    this.failures = failures.slice(0, failureLimit)
    this.complete = failures.length <= failureLimit
  }
}

shareInstanceof('PatchError', PatchError)

/**
 * The maximum number of failures to report for one patch. A patch for a different tree can have a million failures, and nobody needs the later ones. Code
 * that collects failures stops at one more than this.
 */
export const failureLimit = 1000

/** One reason why a patch was refused, as data; `renderFailure` turns it into sentences. */
export type Failure = MalformedFailure | PlaceFailure | SeekFailure | DifferenceFailure

/** A failure because the patch itself is malformed. */
export type MalformedFailure = {
  readonly code:
    | 'not-utf8'
    | 'begin-missing'
    | 'unified-diff'
    | 'end-missing'
    | 'environment-id-empty'
    | 'environment-id-repeated'
    | 'not-a-header'
    | 'update-empty'
    | 'chunk-empty'
    | 'unexpected-line'
    | 'chunk-expected'
    | 'no-operations'
    | 'changes-directory'
  /** The line number, 1-based: `*** Begin Patch` is 1. Undefined if the problem isn't in a particular line. */
  readonly patchLine?: number
  /** The line that was found, or the path concerned. */
  readonly found?: string
  /** The kind of the operation in which the problem was found, or after which it was found. */
  readonly after?: 'add' | 'delete' | 'update'
}

/** A failure that concerns one path: it can't be read, written or removed, or its operation can't be reversed. */
export type PlaceFailure = {
  readonly code: 'read' | 'write' | 'delete' | 'reverse'
  readonly path: string
  /** The absolute path, as the first line of the message shows it. */
  readonly absolute: string
  /** The 1-based number of the operation in the patch. */
  readonly hunk: number
  readonly patchLine: number
  /** Why this failed: a word such as `missing` or `is-directory` (`reasonText` has them all), an errno name, or the code of a `PathError`. */
  readonly reason: string
  /** Further details, such as where a link leads, or which operation removed the file. */
  readonly detail?: string
  /** For `missing`: the files that may have been meant, with the likeliest first. */
  readonly near?: readonly string[]
}

/** A failure to express the change to a file as a patch. */
export type DifferenceFailure = {
  readonly code: 'difference'
  readonly path: string
  /**
   * `not-text`: its old or new content is not UTF-8. `path`: its name can't be written in a header without changing it. `mode`: only one of its states can be
   * executed. `too-large`: `path` is a folder with more entries or bytes than `diffToPatch` reads.
   */
  readonly reason: 'not-text' | 'path' | 'mode' | 'too-large'
}

/** The failure to find the place of a chunk: an anchor or the lines match no place in the file, or the lines match more than one. */
export type SeekFailure = {
  readonly code: 'anchor-not-found' | 'lines-not-found' | 'ambiguous'
  readonly path: string
  readonly absolute: string
  /** 1-based number of the operation in the patch. */
  readonly hunk: number
  /** 1-based number of the chunk in its operation. */
  readonly chunk: number
  readonly patchLine: number
  /** The lines that the patch expects, without their marks. */
  readonly expected: readonly string[]
  /** The best candidate, if any line of the file resembles what the patch expects. */
  readonly nearest?: Nearest
  readonly causes: readonly Cause[]
  /** The 1-based line numbers, in the file, of all candidates of an ambiguous match. */
  readonly fileLines?: readonly number[]
}

/** The part of a file that comes closest to what the patch expects. */
export type Nearest = {
  /** 1-based number, in the file, of the first line of this part. */
  readonly startLine: number
  readonly lines: readonly string[]
  /** The first difference from what the patch expects; `found` is undefined if the file has no such line. */
  readonly difference?: { readonly fileLine: number; readonly expected: string; readonly found: string | undefined }
}

/** A recognized reason why the chunk doesn't match. */
export type Cause =
  | { readonly type: 'already-applied'; readonly fileLine: number }
  | { readonly type: 'above-previous-chunk'; readonly fileLine: number }
  | { readonly type: 'above-anchor'; readonly fileLine: number }
  | { readonly type: 'in-another-file'; readonly path: string; readonly fileLine: number }
  | { readonly type: 'indentation'; readonly fileLine: number }
  | { readonly type: 'uneven-indentation'; readonly fileLine: number }
  | { readonly type: 'white-space'; readonly fileLine: number }
  | { readonly type: 'punctuation'; readonly fileLine: number }
  | { readonly type: 'letter-case'; readonly fileLine: number }
  | { readonly type: 'not-at-end-of-file'; readonly fileLine: number }
  | { readonly type: 'anchor-is-part-of-line'; readonly fileLine: number; readonly text: string }
  | { readonly type: 'encoding'; readonly encoding: 'utf-16' }
  | { readonly type: 'diff-headers' }
  | { readonly type: 'empty-file' }
