import type { SecretShape } from './shape.ts'
import { secretShapes } from './shapes.ts'

/** The text that replaces a secret. */
export const mask = '[redacted]'

const secretName = /(?:KEY|TOKEN|SECRET|PASS(?:WORD|WD|PHRASE)?|CREDENTIALS?|AUTH|COOKIE|SESSION|DSN)(?:_|$)/i
const shortest = 8

/**
 * Creates a function that masks secrets in text: by shape, and by the values of variables whose names indicate a secret. Values shorter than eight characters
 * aren't masked, since that would also mask ordinary words.
 *
 * @example
 * const redact = makeRedactor({ API_TOKEN: 'a-secret-value' })
 * console.log(redact('it is a-secret-value'))
 */
export function makeRedactor(environment: Readonly<Record<string, string | undefined>>): (text: string) => string {
  const values = Object.entries(environment)
    .filter(([name, value]) => secretName.test(name) && (value?.length ?? 0) >= shortest)
    .flatMap(([, value]) => (value === undefined ? [] : [value]))
    .toSorted((a, b) => b.length - a.length)
  return (text) => {
    let clean = text
    for (const value of values) clean = clean.replaceAll(value, mask)
    const lower = clean.toLowerCase()
    for (const shape of secretShapes) {
      if (shape.near.some((part) => lower.includes(part))) clean = maskShape(clean, shape)
    }
    return clean
  }
}

/** How many characters after a possible beginning of a secret are examined first. More are examined only if the match includes all of these. */
const window = 600
/**
 * Once the window is longer than this, in characters, it isn't enlarged any more; a secret that fills it is taken to extend to the end of the text. Without
 * a limit, matching a repetition over many megabytes would overflow the stack of the regular expression engine.
 */
const longest = 100_000

/** Whether a text contains a secret of one of these shapes. */
export function hasShape(text: string, shapes: readonly SecretShape[]): boolean {
  const lower = text.toLowerCase()
  return shapes.some((shape) => shape.near.some((part) => lower.includes(part)) && maskShape(text, shape) !== text)
}

/** Masks the secrets of one shape in one pass. Only a limited window behind each possible beginning of a secret is examined repeatedly. */
function maskShape(text: string, { head, rest, least, before }: SecretShape): string {
  let masked = ''
  let from = 0
  head.lastIndex = 0
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const behind = head.lastIndex
    if (!mayBegin(text, found.index, before)) continue
    const match = matchRest(rest, text, behind)
    if (match === null) continue
    const end = behind + match[0].length
    const { kept, after = '', secret = '' } = match.groups ?? {}
    const isWhole = secret !== '' || match.groups === undefined || !Object.hasOwn(match.groups, 'secret')
    if (match[0].length - (kept?.length ?? 0) - after.length < least) continue
    head.lastIndex = end
    if (!isWhole) continue
    masked += `${text.slice(from, kept === undefined ? found.index : behind + kept.length)}${mask}${after}`
    from = end
  }
  return masked + text.slice(from)
}

/** Whether the text before a position permits a secret to begin there. */
export function mayBegin(text: string, at: number, before: RegExp | undefined): boolean {
  const previous = text.slice(Math.max(at - 40, 0), at)
  return before === undefined ? !/^\w/.test(text[at] ?? '') || !/\w$/.test(previous) : before.test(previous)
}

/**
 * Matches the text after a secret's beginning. If a match fills the window, it is tried again with a larger window. If it fills even the largest one, the
 * whole remaining text counts as the match: it may all belong to the secret.
 */
export function matchRest(rest: RegExp, text: string, at: number): RegExpExecArray | null {
  for (let size = window; ; size *= 4) {
    const match = rest.exec(text.slice(at, at + size))
    if (match === null || match[0].length < size) return match
    if (size > longest) return Object.assign(match, { 0: text.slice(at) })
  }
}

/** Options for masking a value. */
type DeepOptions = {
  /** Names of fields whose values stay unchanged, because a mask would make a provider's data invalid. Default: none. */
  readonly untouched?: ReadonlySet<string>
  /** Whether a text of at least eight characters is masked if the name of its field indicates a secret, whatever the text is. Default: yes. */
  readonly byName?: boolean
}

/**
 * Masks secrets in every string of a value that consists of plain objects, arrays and primitives. The names of fields stay unchanged.
 *
 * @example console.log(redactDeep({ url: 'x', token: 'a-secret-value' }, makeRedactor({})))
 */
export function redactDeep(value: unknown, redact: (text: string) => string, options: DeepOptions = {}): unknown {
  if (typeof value === 'string') return redact(value)
  if (Array.isArray(value)) return value.map((item) => redactDeep(item, redact, options))
  if (typeof value !== 'object' || value === null) return value
  const { untouched, byName = true } = options
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      if (untouched?.has(name) === true) return [name, inner]
      const hidden = byName && typeof inner === 'string' && secretName.test(name) && inner.length >= shortest
      return [name, hidden ? mask : redactDeep(inner, redact, options)]
    }),
  )
}
