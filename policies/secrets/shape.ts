/**
 * What a secret looks like: where it begins, and what stands there. Both are simple on purpose. What begins it is looked for once through a
 * text, and what follows is read from there alone, within a window, so that no text makes it slow.
 */
export type SecretShape = {
  readonly what: string
  /** Where the shape is documented. */
  readonly source: string
  /** One of these stands in every text that holds one, in lower case: most texts are done with after looking for them. */
  readonly near: readonly string[]
  /** What it begins with. Where that begins with a letter or digit, no other may stand before it. */
  readonly head: RegExp
  /**
   * What follows. A group `kept`, where there is one, and what begins it are shown, a group `after` too; a group `secret` that has nothing says
   * that it is none after all.
   */
  readonly rest: RegExp
  /** A text that is masked is at least so long, in characters behind what begins it. */
  readonly least: number
  /** What has to stand before it, instead. */
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
