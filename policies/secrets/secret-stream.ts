import { matchRest, mayBegin } from './redact.ts'
import type { SecretShape } from './shape.ts'
import { secretShapes } from './shapes.ts'

/**
 * Whether the words in `near` may come only after the secret, as `-stdin` does in `echo SECRET | docker login --password-stdin`. Such a shape can't be
 * ruled out because the words are missing so far. Only its pattern contains `[^|`.
 */
const isToldLate = ({ rest }: SecretShape): boolean => rest.source.includes('[^|')

/** How many characters of the emitted text are kept, because a secret may have begun in them. */
const context = 1_000
/** The maximum number of characters to hold back. If more would have to be held back, the rest of the message isn't emitted. */
const mostHeld = 20_000
/** After this many characters behind the beginning of a secret, every shape that doesn't match them is ruled out. */
const window = 600
/** The maximum length of the beginning of a secret, over all shapes, in characters. */
const longestBeginning = 40
/** A shape without fixed words is ruled out after this many characters already, not counting whitespace, if they contain whitespace. */
const enough = 24

/** Whether a shape contains fixed words between its beginning and the secret, or after the secret. */
const isWide = ({ rest }: SecretShape): boolean => /\)[*+]|\[\^\|/.test(rest.source)

/**
 * Masks secrets in a text that arrives in pieces. Text that may turn out to be a secret is held back. `push` returns the text that can be emitted
 * now. Text that is still held back at the end is never emitted.
 *
 * @internal
 */
export class SecretStream {
  readonly #redact: (text: string) => string
  /** The emitted text, as far as it still matters, followed by the text that is held back. */
  #text = ''
  #told = 0
  #isFull = false

  /** @param redact recognizes the secrets in a whole text by their shapes, and masks them */
  constructor(redact: (text: string) => string) {
    this.#redact = redact
  }

  push(piece: string): string {
    if (this.#isFull) return ''
    this.#text += piece
    const end = openFrom(this.#text, this.#told)
    if (this.#text.length - end > mostHeld) this.#isFull = true
    if (end <= this.#told) return ''
    const before = this.#redact(this.#text.slice(0, this.#told))
    const now = this.#redact(this.#text.slice(0, end))
    const from = Math.max(0, end - context)
    this.#text = this.#text.slice(from)
    this.#told = end - from
    // The two texts differ before the end of `before` if the beginning of a secret was emitted before it was recognisable. Everything after the
    // common part is returned.
    let same = 0
    while (same < before.length && before[same] === now[same]) same++
    return now.slice(same)
  }

  /** Starts again with a new text. */
  reset(): void {
    this.#text = ''
    this.#told = 0
    this.#isFull = false
  }
}

/**
 * The offset at which the last word starts. The word may continue, and it may be the beginning of a secret. If the word is too long for that, the
 * result is the length of the text.
 */
function lastWord(text: string): number {
  const tail = text.slice(-longestBeginning)
  const blank = Math.max(...[' ', '\n', '\t'].map((one) => tail.lastIndexOf(one)))
  return blank < 0 && text.length > tail.length ? text.length : text.length - tail.length + blank + 1
}

/** The position up to which a text can be emitted: the beginning of the first secret that may be incomplete, and never a position inside a secret. */
function openFrom(text: string, told: number): number {
  const lower = text.toLowerCase()
  const found: (readonly [number, number])[] = []
  for (const shape of secretShapes) {
    if (!isToldLate(shape) && !shape.near.some((part) => lower.includes(part))) continue
    shape.head.lastIndex = 0
    for (let head = shape.head.exec(text); head !== null; head = shape.head.exec(text))
      if (mayBegin(text, head.index, shape.before))
        found.push([head.index, endOf(text, shape.head.lastIndex, shape) ?? Infinity])
  }
  let open = lastWord(text)
  for (const [start, end] of found.toSorted(([a], [b]) => b - a)) if (start < open && open < end) open = start
  return Math.max(told, open)
}

/**
 * The offset at which a shape's match ends; `behind` if there certainly is no match. Undefined if neither is known yet.
 *
 * @param behind the offset at which the shape's beginning ends
 */
function endOf(text: string, behind: number, shape: SecretShape): number | undefined {
  const match = matchRest(shape.rest, text, behind)
  if (match !== null) return behind + match[0].length === text.length ? undefined : behind + match[0].length
  const rest = text.slice(behind, behind + window)
  if (rest.length === window) return behind
  // Without whitespace, the text may be one long word that can't be judged yet.
  const isNone = isWide(shape)
    ? rest.split('\n').filter((line) => line.trim() !== '').length > 2
    : /\S\s/.test(rest) && rest.replace(/\s+/g, '').length >= enough
  return isNone ? behind : undefined
}
