import { more } from '../text/more.ts'

/** Shortens a text for a message, since a single line of a file can be ten megabytes long. */
export function clip(text: string, limit: number): string {
  return text.length > limit ? `${text.slice(0, limit)}… (${more(text.length - limit, 'character')})` : text
}

/** Shortens two different texts for a message. If they have a long beginning in common, both are shown from shortly before the first difference. */
export function aroundDifference(one: string, other: string): readonly [string, string] {
  let shared = 0
  while (shared < one.length && one[shared] === other[shared]) shared++
  const from = shared > 200 ? shared - 80 : 0
  return from === 0 ? [one, other] : [`…${one.slice(from)}`, `…${other.slice(from)}`]
}

/** The first lines of a list, each shortened, and the number of lines that were left out. */
export function clipLines(lines: readonly string[], limit: number): readonly string[] {
  const shown = lines.slice(0, limit).map((line) => clip(line, 1000))
  return lines.length > limit ? [...shown, `  (${more(lines.length - limit, 'line')})`] : shown
}
