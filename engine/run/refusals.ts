const mostInRow = 3

/**
 * Notices a model that keeps asking for what is refused: that many responses in a row of which every call was refused. A refusal is of
 * the aim, and trying it in yet another way is no work. Calls of one response count as one, since none could know of the others.
 */
export class RefusalWatch {
  #inRow = 0

  /**
   * Takes a response that called for something.
   *
   * @param calls how many calls it made
   * @param refused how many of them were refused
   * @returns why the run is to end, if it is
   */
  see(calls: number, refused: number): string | undefined {
    this.#inRow = refused >= calls ? this.#inRow + 1 : 0
    if (this.#inRow < mostInRow) return undefined
    return `${mostInRow} responses in a row asked only for what is refused. What was refused, and why, is listed with each call.`
  }
}
