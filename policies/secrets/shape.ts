/**
 * The shape of a secret: its beginning, and the text after it. Both are simple on purpose. The beginning is searched once through a text,
 * and the rest is read from there alone, within a window, so that no text makes it slow.
 */
export type SecretShape = {
  readonly what: string
  /** Where the shape is documented. */
  readonly source: string
  /** Every text with such a secret contains one of these, in lower case: most texts are excluded by searching for them. */
  readonly near: readonly string[]
  /** Its beginning. If that begins with a letter or digit, no other may precede it. */
  readonly head: RegExp
  /**
   * The text after it. A group `kept`, if there is one, and the beginning are shown, a group `after` too; an empty group `secret` means
   * that there is none after all.
   */
  readonly rest: RegExp
  /** The minimum length of a masked text, in characters after the beginning. */
  readonly least: number
  /** The text that must precede it instead. */
  readonly before?: RegExp
}

/** Makes a shape; `near` are words with blanks between. */
export const shape = (
  what: string,
  source: string,
  near: string,
  head: RegExp,
  rest: RegExp,
  least = 1,
  before?: RegExp,
): SecretShape => ({
  what,
  source,
  near: near.split(' '),
  head,
  rest,
  least,
  ...(before === undefined ? {} : { before }),
})
