import type { ToolContext } from '../tools/tool.ts'

/** Thrown in the middle of a call that is to be made with another input. */
export class ReplacedCall extends Error {
  override readonly name = 'ReplacedCall'
  readonly input: unknown

  constructor(input: unknown) {
    super('The call is made with another input.')
    this.input = input
  }
}

/**
 * Lets whoever denies a call say with which input it is to be made instead.
 *
 * @param replacement returns that input; undefined if the call isn't to be made
 */
export function replacing(
  review: ToolContext['review'],
  replacement: (() => unknown) | undefined,
): ToolContext['review'] {
  if (replacement === undefined) return review
  return async (...asked) => {
    const judged = await review(...asked)
    const input = judged.verdict.decision === 'deny' ? replacement() : undefined
    if (input !== undefined) throw new ReplacedCall(input)
    return judged
  }
}
