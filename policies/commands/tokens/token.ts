/** What the tokenizer takes a stretch of shell text for. */
export type TokenKind =
  /** A word, an assignment with its array included. */
  | 'word'
  | 'comment'
  /** A reserved word or an operator that the tree has no node for; `text` says which. */
  | 'structure'
  /** The number in front of a redirection. */
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

/** The tokens of a text, or why it can't be taken apart. */
export type Scan =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  /** `excessive`: so deep or so large that nothing else should look at it either. */
  | { readonly ok: false; readonly reason: string; readonly excessive: boolean }

/**
 * Ends the scan: the text has a form that is not understood, or that shells read in different ways. It is no `Error`: scans end so often
 * that taking a stack trace each time would cost more than the scanning.
 */
export class ScanError {
  readonly reason: string
  readonly excessive: boolean

  constructor(reason: string, excessive = false) {
    this.reason = reason
    this.excessive = excessive
  }
}

/** Says why the text can't be taken apart, and ends the scan. */
export function fail(reason: string): never {
  throw new ScanError(reason)
}
