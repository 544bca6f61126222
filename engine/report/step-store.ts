import { truncateMiddle } from '../core/text/truncate.ts'
import { ownText } from './own-text.ts'
import type { Step } from './report-types.ts'
import { mapTexts, textLengths } from './step-texts.ts'

/** How many steps to keep: at the beginning of the session, at its end, and in between. In between, only steps that need attention are kept. */
const [mostFirst, mostLast, mostBetween] = [150, 750, 300]
/** The limit for all texts together, in characters. It keeps a page with its markup below 5 MB. */
const mostText = 1_000_000
const [longestPart, shortestPart] = [24_000, 200]
/** The maximum number of denials by the sandbox in all steps together. Beyond it, each step keeps one denial, and says how many more it had. */
const mostDenials = 1000

/**
 * Stores the steps of a report in a limited amount of memory, however long the session is. Steps in the middle are dropped first. The more text there
 * is, the shorter each text is cut.
 */
export class StepStore {
  readonly #first: Step[] = []
  readonly #between: Step[] = []
  #last: Step[] = []
  #text = 0
  #denials = 0
  #limit = longestPart
  #omittedSteps = 0
  #omittedCharacters = 0

  add(step: Step): void {
    const cut = this.#cut(this.#withFewDenials(step))
    this.#text += sizeOf(cut)
    if (this.#first.length < mostFirst) this.#first.push(cut)
    else this.#last.push(cut)
    // The list may grow to twice its limit before steps are dropped, because it is cheaper to drop many steps at once.
    if (this.#last.length >= 2 * mostLast) this.#giveWay()
    while (this.#text > mostText && this.#limit > shortestPart) this.#shorten()
  }

  /** The steps in order, and how many steps and characters were left out. */
  result(): { readonly steps: readonly Step[]; readonly omittedSteps: number; readonly omittedCharacters: number } {
    this.#giveWay()
    return {
      steps: [...this.#first, ...this.#between, ...this.#last],
      omittedSteps: this.#omittedSteps,
      omittedCharacters: this.#omittedCharacters,
    }
  }

  #giveWay(): void {
    const going = this.#last.slice(0, -mostLast)
    this.#last = this.#last.slice(-mostLast)
    for (const step of going) {
      const wanted = step.status === 'refused' || step.status === 'failed' || step.denials.length > 0
      if (wanted && this.#between.length < mostBetween) {
        this.#between.push(step)
        continue
      }
      this.#omittedSteps++
      this.#text -= sizeOf(step)
    }
  }

  #shorten(): void {
    this.#limit = Math.floor(this.#limit / 2)
    this.#text = 0
    for (const list of [this.#first, this.#between, this.#last]) {
      for (const [at, step] of list.entries()) {
        const cut = this.#cut(step)
        list[at] = cut
        this.#text += sizeOf(cut)
      }
    }
  }

  #cut(step: Step): Step {
    const titled = { ...step, title: ownText(step.title.slice(0, 400)) }
    // Most steps of a long session have only short texts, which needn't be cut.
    if (textLengths(step).every((length) => length <= this.#limit)) return titled
    return mapTexts(titled, (given, whole) => {
      const { text, omitted } = truncateMiddle(given, this.#limit, whole)
      this.#omittedCharacters += omitted
      return omitted === 0 ? given : ownText(text)
    })
  }

  #withFewDenials(step: Step): Step {
    const { denials } = step
    const [first] = denials
    const left = mostDenials - this.#denials
    this.#denials += denials.length
    if (first === undefined || denials.length === 1 || denials.length <= left) return step
    const others = {
      ...first,
      subject: `and ${denials.length - 1} more`,
      rule: 'the session lists them',
      howToAllow: '',
    }
    return { ...step, denials: [first, others] }
  }
}

function sizeOf(step: Step): number {
  const labels = step.parts.reduce((sum, { label }) => sum + label.length, 0)
  return textLengths(step).reduce((sum, length) => sum + length, step.title.length + labels + 300)
}
