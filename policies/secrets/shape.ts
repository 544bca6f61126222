/**
 * The shape of a secret: its beginning, and the text after it. Both patterns are simple on purpose: a text is searched for the beginning only once, and the
 * rest is matched from there, within a window. Therefore no text can make the search slow.
 */
export type SecretShape = {
  readonly what: string
  /** The documentation that describes the shape. */
  readonly source: string
  /** Words in lower case. Every text with a secret of this shape contains at least one of them. Searching for them first excludes most texts. */
  readonly near: readonly string[]
  /** The pattern of the beginning. If it begins with a letter, digit or underscore, none of these may precede it. */
  readonly head: RegExp
  /**
   * The pattern of the text after the beginning. If there is a group `kept`, neither that group nor the beginning is masked; otherwise the beginning
   * is masked too. A group `after` is never masked. An empty group `secret` means that there is no secret after all.
   */
  readonly rest: RegExp
  /** The minimum number of characters after the beginning, not counting the groups `kept` and `after`. A shorter text isn't masked. */
  readonly least: number
  /** Matches the text that must precede the secret's beginning. Absent: the rule that is described at `head` applies. */
  readonly before?: RegExp
}

/** Creates a shape. `near` contains words separated by blanks. */
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
