import { numbered } from './files/text.ts'

/** The text after a replacement, and the lines (from 1) of the original text where something was replaced; or why nothing was replaced. */
type Replaced = { readonly text: string; readonly lines: readonly number[] } | { readonly problem: string }

/**
 * Replaces `old` in a text. If the text contains CRLF but not `old` as it is, line feeds in `old` and in `replacement` stand for CRLF.
 *
 * @param all whether to replace every occurrence; if false, `old` must occur exactly once
 */
export function replaceText(text: string, old: string, replacement: string, all: boolean): Replaced {
  const crlf = !text.includes(old) && text.includes('\r\n')
  const needle = crlf ? old.replace(/\r?\n/g, '\r\n') : old
  const places = occurrences(text, needle)
  const lines = places.map((at) => lineAt(text, at))
  if (places.length === 0) return { problem: notFound(text, old) }
  if (places.length > 1 && !all) {
    return {
      problem: `old_string occurs ${places.length} times, at lines ${lines.join(', ')}. Include more of the text around it, or set replace_all.`,
    }
  }
  return { text: text.split(needle).join(crlf ? replacement.replace(/\r?\n/g, '\r\n') : replacement), lines }
}

function occurrences(text: string, needle: string): readonly number[] {
  const found: number[] = []
  for (let at = text.indexOf(needle); at !== -1; at = text.indexOf(needle, at + needle.length)) found.push(at)
  return found
}

function lineAt(text: string, at: number): number {
  let line = 1
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) line++
  return line
}

/** How many lines of a long `old_string` are compared with each position in the file. */
const comparedLines = 50

/** Says that nothing was found, and shows the closest match, if there is one. */
function notFound(text: string, old: string): string {
  const lines = text.split(/\r?\n/)
  const wanted = old.replace(/\n$/, '').split(/\r?\n/).slice(0, comparedLines)
  const near = nearest(lines, wanted)
  if (near === undefined) return 'old_string is not in the file, nor is anything similar. Read the file again.'
  const shown = lines.slice(near.at, near.at + wanted.length)
  const same = shown.every((line, index) => collapse(line) === collapse(wanted[index] ?? ''))
  const what = same ? 'It differs only in white space.' : 'It differs.'
  return `old_string is not in the file. The closest match is at line ${near.at + 1}. ${what} The file has:\n${numbered(shown, near.at + 1)}`
}

/** The closest match is shown only if it is at least this similar. */
const leastLikeness = 0.5

/**
 * Finds the lines in the file that are most similar to the wanted lines, and returns the index of the first. Returns undefined if none are similar
 * enough.
 */
function nearest(lines: readonly string[], wanted: readonly string[]): { readonly at: number } | undefined {
  const pairs = wanted.map(bigrams)
  const known = new Map<string, ReadonlyMap<string, number>>()
  const bigramsOf = (line: string): ReadonlyMap<string, number> => {
    const found = known.get(line) ?? bigrams(line)
    known.set(line, found)
    return found
  }
  let best = { at: -1, likeness: 0 }
  for (let at = 0; at + wanted.length <= lines.length; at++) {
    let sum = 0
    for (const [index, pair] of pairs.entries()) sum += likeness(pair, bigramsOf(lines[at + index] ?? ''))
    if (sum / wanted.length > best.likeness) best = { at, likeness: sum / wanted.length }
  }
  return best.likeness < leastLikeness ? undefined : best
}

/** Dice's coefficient of two lines: 1 for equal lines, 0 for nothing in common. */
function likeness(a: ReadonlyMap<string, number>, b: ReadonlyMap<string, number>): number {
  if (a.size === 0 || b.size === 0) return a.size === b.size ? 1 : 0
  let [common, total] = [0, 0]
  for (const [pair, count] of a) {
    common += Math.min(count, b.get(pair) ?? 0)
    total += count
  }
  for (const count of b.values()) total += count
  return (2 * common) / total
}

function bigrams(line: string): ReadonlyMap<string, number> {
  const text = collapse(line)
  const found = new Map<string, number>()
  for (let at = 0; at + 1 < text.length; at++) {
    const pair = text.slice(at, at + 2)
    found.set(pair, (found.get(pair) ?? 0) + 1)
  }
  return found
}

function collapse(line: string): string {
  return line.trim().replace(/\s+/g, ' ')
}
