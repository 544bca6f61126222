/** A parsed patch. Line numbers are 1-based, and `*** Begin Patch` is line 1, as in all messages. */
export type Patch = {
  /** The value of an `*** Environment ID:` line, which this library doesn't use. */
  readonly environmentId?: string
  readonly operations: readonly PatchOperation[]
}

/**
 * Lines of a patch as bytes. Each line begins with its mark (`+`, `-` or a space) and ends in LF. A completely empty line counts as an empty context line. This
 * is usually a range of the patch's own bytes, so it must not be modified.
 */
export type Body = Uint8Array

/** What a patch does to one path. */
export type PatchOperation = AddFile | DeleteFile | UpdateFile

/** An operation that adds a file. `body` contains only `+` lines; if it is empty, so is the file. */
export type AddFile = {
  readonly type: 'add'
  readonly path: string
  readonly line: number
  readonly body: Body
  /** True if the last line of the file has no newline; undefined if every line has one. */
  readonly unterminated?: true
}

/**
 * An operation that deletes a file. `expected` contains `-` lines, which must be the whole content of the file. If it is undefined, the content
 * doesn't matter.
 */
export type DeleteFile = {
  readonly type: 'delete'
  readonly path: string
  readonly line: number
  readonly expected?: Body
  /** True if the last line of `expected` doesn't end with a newline; undefined if every line does. */
  readonly unterminated?: true
}

/** An operation that changes a file. It has at least one chunk, or, if it only renames the file, a `moveTo` and no chunks. */
export type UpdateFile = {
  readonly type: 'update'
  readonly path: string
  readonly line: number
  readonly moveTo?: string
  readonly chunks: readonly Chunk[]
}

/** A change to one place in a file: where to search for the place, and its lines before and after the change. */
export type Chunk = {
  /** The patch line of the chunk's first `@@`, or of its first body line if it has no `@@`. */
  readonly line: number
  /** The patch line of the first line of `body`. */
  readonly bodyLine: number
  /** The texts of the chunk's `@@` lines, outermost first. Each is searched for below the previous one. */
  readonly anchors: readonly Anchor[]
  /**
   * The line numbers in the chunk's header, if that has the form of a unified diff (`@@ -start,count +…@@`). They choose the place at line `start` of the old file
   * if several places match, unless the section says otherwise.
   */
  readonly hint?: LineHint
  readonly body: Body
  /**
   * The lines of `body`, by their index, that had no mark in the patch, and got that of context. Such a chunk applies only where it fits a single place; lenient
   * mode only. Undefined if every line has its mark.
   */
  readonly unmarked?: readonly number[]
  /** Whether the chunk's old lines must be the last lines of the file. */
  readonly endOfFile: boolean
  /** Whether the file's last line ends with a newline once the chunk has changed it. If undefined, this doesn't change. */
  readonly finalNewline?: 'absent' | 'present'
}

export type Anchor = { readonly text: string; readonly line: number }

/**
 * The line numbers in the header of a unified diff. If `count` is 0, lines are inserted after line `start`. `section` is the text behind them: the beginning of a
 * line above, such as that of a function; undefined if there is none.
 */
export type LineHint = { readonly start: number; readonly count: number; readonly section?: string }

/** Lenient mode accepts the variants that models write, and reports each repair. Strict mode accepts only the format itself. */
export type Mode = 'lenient' | 'strict'

/** A deviation from the grammar that was accepted. `code` is stable, `message` is for people. */
export type Repair = { readonly code: RepairCode; readonly message: string; readonly patchLine?: number }

export type RepairCode =
  | 'byte-order-mark'
  | 'json'
  | 'escaped'
  | 'indented'
  | 'heredoc'
  | 'code-fence'
  | 'surrounding-text'
  | 'decorated-marker'
  | 'decorated-path'
  | 'blank-line'
  | 'missing-plus'
  | 'git-header'
  | 'no-newline-marker'
  | 'end-of-file-in-add'
  | 'delete-with-lines'
  | 'line-hint'
  | 'misplaced-move'
  /** The code of the last entry, which stands for all repairs after the first thousand. */
  | 'further-repairs'
