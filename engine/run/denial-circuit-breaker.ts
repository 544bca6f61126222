/** A call that was refused. */
export type Refusal = {
  /** The subject of the refused call, in one line. */
  readonly what: string
  /** Whether the call would only have looked something up. Most tasks can be done without such a call. */
  readonly isLookUp: boolean
}

const mostInRow = 3
/** After this many responses in a row that contained nothing but refused look-ups, the run ends, because the model is making no progress. */
const mostLookUps = 10

/** The reaction to a model that keeps asking for what was refused. */
type RefusalVerdict = { readonly tell: string } | { readonly stop: string } | undefined

/**
 * Notices a model that keeps asking for what was refused. It counts consecutive responses whose calls were all refused, and whose subjects overlap. A
 * refusal applies to what the call was meant to achieve. Trying to achieve the same thing differently is therefore no progress, but a request for
 * something else is. The model is warned after the second such response. After the third or a later one, its run ends, unless that response contained
 * only look-ups. All calls of a response count as one, since the model made each of them without knowing the results of the others.
 */
export class DenialCircuitBreaker {
  #inRow = 0
  #lookUps = 0
  /** The words that all responses in the current series share: each of these words is in the subject of a refused call in every response. */
  #aims: ReadonlySet<string> = new Set()

  /**
   * Receives a response with calls, and returns the reaction.
   *
   * @param calls how many calls the response made
   * @param refusals the calls that were refused
   */
  see(calls: number, refusals: readonly Refusal[]): RefusalVerdict {
    if (refusals.length < calls) {
      this.#inRow = this.#lookUps = 0
      return undefined
    }
    const aims = new Set(refusals.flatMap(({ what }) => aimsOf(what)))
    const common = new Set([...aims].filter((aim) => this.#aims.has(aim)))
    const isSame = this.#inRow > 0 && common.size > 0
    this.#inRow = isSame ? this.#inRow + 1 : 1
    this.#aims = isSame ? common : aims
    const isLookUp = refusals.every((refusal) => refusal.isLookUp)
    this.#lookUps = isLookUp ? this.#lookUps + 1 : 0
    const [{ what } = { what: '' }] = refusals.slice(-1)
    if (this.#lookUps >= mostLookUps)
      return { stop: `${mostLookUps} responses in a row made only look-ups, and all of these were refused.` }
    if (this.#inRow === mostInRow - 1) return { tell: warn(what, isLookUp) }
    if (this.#inRow < mostInRow || isLookUp) return undefined
    return {
      stop: `${mostInRow} responses in a row requested only the same thing, which was refused each time (most recently: ${what}). Each refused call says what was refused, and why.`,
    }
  }
}

function warn(what: string, isLookUp: boolean): string {
  return (
    `Two responses in a row requested only things that are refused (most recently: ${what}). The goal itself is refused, however you try to reach it` +
    `${isLookUp ? '' : ', and a third attempt ends the run'}. ` +
    'Continue with what you can do without it. If nothing is left, stop and say what is missing.'
  )
}

/** Words that say how something is done rather than what is done: words of shells and of URLs, and prefixes that this program adds. */
const manner = new Set([
  'patch',
  'of',
  'http',
  'https',
  'sh',
  'bash',
  'sudo',
  'env',
  'then',
  'true',
  'false',
  'url',
  'path',
  'input',
])

/**
 * The subject of a call: the words that other attempts to achieve the same thing would share. These are the names of files, hosts and objects.
 * The name of the program counts only if it stands alone, or is that of an MCP tool.
 */
function aimsOf(what: string): readonly string[] {
  // The shell that runs a command line is not part of the call's subject.
  const line = what.replace(/^\S{0,200}sh -l?c /, '').toLowerCase()
  const [program, ...words] = line.split(/[^\p{L}\p{N}_./@+-]+/u).filter((word) => word !== '')
  const named = what.startsWith('mcp__') || words.length === 0 ? [program ?? '', ...words] : words
  return named
    .filter((word) => !word.startsWith('-') && !manner.has(word))
    .flatMap((word) => {
      const parts = word.split('/').filter((part) => part !== '')
      // The whole word counts, and so do its first part (for example the host of a URL) and its last part (for example the name of a file).
      return [word, ...parts.slice(0, 1), ...parts.slice(-1)]
    })
}
