import { matchRest, mayBegin } from './redact.ts'
import type { SecretShape } from './shape.ts'
import { secretShapes } from './shapes.ts'

/** Shapes that only the text after the secret confirms. */
const isToldLate = ({ rest }: SecretShape): boolean => rest.source.includes('[^|')

/** How much emitted text is kept, because a secret may have begun in it. */
const context = 1_000
/** The text that is held back; if it grows longer, the rest of the message isn't emitted. */
const mostHeld = 20_000
/** The length after the beginning of a shape that contains fixed words. */
const window = 600
/** The longest beginning of any shape. */
const longestBeginning = 40
/** This many letters after the beginning of a shape are enough to rule it out. */
const enough = 24

/** Shapes with words between their beginning and the secret, or after it. */
const isWide = ({ rest }: SecretShape): boolean => /\)[*+]|\[\^\|/.test(rest.source)

/**
 * Masks a text that arrives in pieces: what may turn out to be a secret is held back. `push` returns what can be emitted by now; what is
 * held back at the end is never emitted.
 *
 * @internal
 */
export class SecretStream {
  readonly #redact: (text: string) => string
  /** The emitted text, as far as it matters, and the held-back text. */
  #text = ''
  #told = 0
  #isFull = false

  /** @param redact masks whole texts by shape */
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
    // The beginning of a secret may have been emitted before it was one.
    let same = 0
    while (same < before.length && before[same] === now[same]) same++
    return now.slice(same)
  }

  /** Another text begins. */
  reset(): void {
    this.#text = ''
    this.#told = 0
    this.#isFull = false
  }
}

/** Where the last word begins, which may continue, and be the beginning of a secret; the text's length where it is too long for that. */
function lastWord(text: string): number {
  const tail = text.slice(-longestBeginning)
  const blank = Math.max(...[' ', '\n', '\t'].map((one) => tail.lastIndexOf(one)))
  return blank < 0 && text.length > tail.length ? text.length : text.length - tail.length + blank + 1
}

/** Up to where a text can be emitted: to the beginning of the first secret that may not be complete, and never into the middle of one. */
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

/** The end of a shape's match; undefined where it isn't known yet. */
function endOf(text: string, behind: number, shape: SecretShape): number | undefined {
  const match = matchRest(shape.rest, text, behind)
  if (match !== null) return behind + match[0].length === text.length ? undefined : behind + match[0].length
  const rest = text.slice(behind, behind + window)
  if (rest.length === window) return behind
  // Without a blank, it may be one long word that can't be judged yet.
  const isNone = isWide(shape)
    ? rest.split('\n').filter((line) => line.trim() !== '').length > 2
    : /\S\s/.test(rest) && rest.replace(/\s+/g, '').length >= enough
  return isNone ? behind : undefined
}
