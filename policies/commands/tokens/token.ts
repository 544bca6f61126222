/** The kinds of shell text that the tokenizer distinguishes. */
export type TokenKind =
  /** A word, or an assignment with its array. */
  | 'word'
  | 'comment'
  /** A reserved word or operator. It has no node of its own in the syntax tree, so `text` contains it (`test` for operators like `-f`). */
  | 'structure'
  /** The number of a descriptor in front of a redirection, such as the 2 in `2>file`. */
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

/** The tokens of a text, or why it can't be tokenized. */
export type Scan =
  | { readonly ok: true; readonly tokens: readonly Token[] }
  /** `excessive`: the text is so deeply nested or so large that nothing else should read it either. */
  | { readonly ok: false; readonly reason: string; readonly excessive: boolean }

/**
 * Thrown to end the scan, because the text is too large, or contains a form that isn't supported or that different shells interpret differently. Not
 * an `Error`: scans end so often that the stack traces would cost more than the scanning.
 */
export class ScanError {
  readonly reason: string
  readonly excessive: boolean

  constructor(reason: string, excessive = false) {
    this.reason = reason
    this.excessive = excessive
  }
}

/** Ends the scan, with the reason why the text can't be tokenized. */
export function fail(reason: string): never {
  throw new ScanError(reason)
}
