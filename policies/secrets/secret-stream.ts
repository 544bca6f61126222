import { matchRest, mayBegin } from './redact.ts'
import type { SecretShape } from './shape.ts'
import { secretShapes } from './shapes.ts'

/** Shapes that only what stands behind the secret shows to be one. */
const isToldLate = ({ rest }: SecretShape): boolean => rest.source.includes('[^|')

/** What was told already, of which a secret may still need what it begins with. */
const context = 1_000
/** What is held back; with more the rest of the message isn't told. */
const mostHeld = 20_000
/** So much behind what begins a shape that has words of its own in between. */
const window = 600
/** No shape is begun by more. */
const longestBeginning = 40
/** So many letters behind what begins a shape are enough to see that it is none. */
const enough = 24

/** Shapes in which words stand between what begins them and the secret, or behind it. */
const isWide = ({ rest }: SecretShape): boolean => /\)[*+]|\[\^\|/.test(rest.source)

/**
 * Masks a text that comes in pieces: what may be a secret once more of it has come is held back. `push` gives what can be told by now; what is
 * held back at the end is never told.
 *
 * @internal
 */
export class SecretStream {
  readonly #redact: (text: string) => string
  /** What was told, as far as it matters, and what wasn't. */
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
    // What begins a secret may have been told before it was one.
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

/** Where the last word begins, which may go on, and be what begins a secret; the text's length where it is too long for that. */
function lastWord(text: string): number {
  const tail = text.slice(-longestBeginning)
  const blank = Math.max(...[' ', '\n', '\t'].map((one) => tail.lastIndexOf(one)))
  return blank < 0 && text.length > tail.length ? text.length : text.length - tail.length + blank + 1
}

/** Up to where a text can be told: to where the first secret begins that may not be at its end yet, and never to the middle of one. */
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

/** Where what a shape means ends; undefined where that can't be told yet. */
function endOf(text: string, behind: number, shape: SecretShape): number | undefined {
  const match = matchRest(shape.rest, text, behind)
  if (match !== null) return behind + match[0].length === text.length ? undefined : behind + match[0].length
  const rest = text.slice(behind, behind + window)
  if (rest.length === window) return behind
  // Without a blank it may be one long word that has yet to show what it is.
  const isNone = isWide(shape)
    ? rest.split('\n').filter((line) => line.trim() !== '').length > 2
    : /\S\s/.test(rest) && rest.replace(/\s+/g, '').length >= enough
  return isNone ? behind : undefined
}
