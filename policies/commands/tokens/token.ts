/** The kinds of shell text that the tokenizer distinguishes. */
export type TokenKind =
  /** A word, or an assignment with its array. */
  | 'word'
  | 'comment'
  /** A reserved word or operator, which has no node of its own in the tree. `text` contains it. */
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

/** A stretch of shell text, given by its offsets. */
export type Token = { readonly kind: TokenKind; readonly pos: number; readonly end: number; readonly text?: string }

/** The tokens of a text, or why it can't be tokenised. */
export type Scan =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  /** `excessive`: the text is so deeply nested or so large that nothing else should read it either. */
  | { readonly ok: false; readonly reason: string; readonly excessive: boolean }

/**
 * Ends the scan, because a form isn't supported or because different shells interpret it differently. Not an `Error`: scans end so often that the
 * stack traces would cost more than the scanning.
 */
export class ScanError {
  readonly reason: string
  readonly excessive: boolean

  constructor(reason: string, excessive = false) {
    this.reason = reason
    this.excessive = excessive
  }
}

/** Ends the scan, with the reason why the text can't be tokenised. */
export function fail(reason: string): never {
  throw new ScanError(reason)
}
