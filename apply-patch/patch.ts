/**
 * A parsed patch. Line numbers are 1-based and count `*** Begin Patch` as 1, as every message does.
 */
export type Patch = {
  /** The value of an `*** Environment ID:` line; nothing here uses it. */
  readonly environmentId?: string
  readonly operations: readonly PatchOperation[]
}

/**
 * Lines of a patch as bytes: each with its mark (`+`, `-`, a space; a wholly empty line is an empty context line) and
 * ending in LF. Usually a range of the patch itself, so it must not be written to.
 */
export type Body = Uint8Array

/** What a patch does to one path. */
export type PatchOperation = AddFile | DeleteFile | UpdateFile

/** `body` holds only `+` lines; empty means a file of no bytes. */
export type AddFile = {
  readonly type: 'add'
  readonly path: string
  readonly line: number
  readonly body: Body
  /** The last line has no line end. Absent: each line has one. */
  readonly unterminated?: true
}

/** `expected` contains `-` lines that must be the file's whole content; absent means any content. */
export type DeleteFile = {
  readonly type: 'delete'
  readonly path: string
  readonly line: number
  readonly expected?: Body
  /** The last line of `expected` has no line end. Absent: each line has one. */
  readonly unterminated?: true
}

/** Either `chunks` isn't empty, or there is a `moveTo`: a rename without a change of content. */
export type UpdateFile = {
  readonly type: 'update'
  readonly path: string
  readonly line: number
  readonly moveTo?: string
  readonly chunks: readonly Chunk[]
}

/** One place of a file: where to search, and its lines before and after the change. */
export type Chunk = {
  /** The patch line of its first `@@`, or of its first body line if it has none. */
  readonly line: number
  /** Patch line of the first line of `body`. */
  readonly bodyLine: number
  /** Texts of its `@@` lines, outermost first; each is searched below the one before. */
  readonly anchors: readonly Anchor[]
  /** From a unified header, `@@ -start,count +…@@`: prefer the match nearest to this line of the old file. */
  readonly hint?: LineHint
  readonly body: Body
  /** Its old lines end the file. */
  readonly endOfFile: boolean
  /** Whether the file's last line gets a line end, if the chunk changes that line. Absent: as before. */
  readonly finalNewline?: 'absent' | 'present'
}

export type Anchor = { readonly text: string; readonly line: number }

/** `count` 0 means an insertion after line `start`. */
export type LineHint = { readonly start: number; readonly count: number }

/** Lenient mode reads the variants that models write, and reports each repair; strict mode follows the grammar exactly. */
export type Mode = 'lenient' | 'strict'

/** Something outside the grammar that was accepted. `code` is stable, `message` is for people. */
export type Repair = { readonly code: RepairCode; readonly message: string; readonly patchLine?: number }

export type RepairCode =
  | 'byte-order-mark'
  | 'json'
  | 'escaped'
  | 'heredoc'
  | 'code-fence'
  | 'surrounding-text'
  | 'decorated-marker'
  | 'decorated-path'
  | 'blank-line'
  | 'missing-plus'
  | 'no-newline-marker'
  | 'end-of-file-in-add'
  | 'delete-with-lines'
  | 'line-hint'
  | 'misplaced-move'
  /** Represents all repairs beyond the first thousand. */
  | 'further-repairs'
