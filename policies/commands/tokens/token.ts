/** What the tokenizer takes a stretch of shell text for. */
export type TokenKind =
  /** A word, or an assignment with its array. */
  | 'word'
  | 'comment'
  /** A reserved word or an operator without a node in the tree; `text` says which. */
  | 'structure'
  /** The number before a redirection. */
  | 'descriptor'
  | 'delimiter'
  | 'body'
  | 'closing'
  | 'single'
  | 'double'
  | 'ansi'
  | 'simple'
  | 'parameter'
  | 'command'
  | 'process'
  | 'arithmetic'
  /** A wildcard or a brace that the shell expands. */
  | 'pattern'

/** A stretch of shell text, by its offsets. */
export type Token = { readonly kind: TokenKind; readonly pos: number; readonly end: number; readonly text?: string }

/** The tokens of a text, or why it can't be tokenised. */
export type Scan =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  /** `excessive`: so deep or so large that nothing else should read it either. */
  | { readonly ok: false; readonly reason: string; readonly excessive: boolean }

/**
 * Ends the scan: the form is not understood, or shells read it differently. It is no `Error`: scans end so often that stack traces would
 * cost more than the scanning.
 */
export class ScanError {
  readonly reason: string
  readonly excessive: boolean

  constructor(reason: string, excessive = false) {
    this.reason = reason
    this.excessive = excessive
  }
}

/** States why the text can't be tokenised, and ends the scan. */
export function fail(reason: string): never {
  throw new ScanError(reason)
}
