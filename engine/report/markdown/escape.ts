import { revealed } from '../text/reveal.ts'

/**
 * A text for a line of Markdown: nothing in it is markup, a link, a picture, raw HTML, or a mention. Line ends become spaces.
 *
 * @param most characters that are shown
 */
export function inline(text: string, most = 300): string {
  const flat = revealed(text).replaceAll('\n', ' ').replaceAll('\t', ' ')
  const shown = flat.length > most ? `${flat.slice(0, most - 1).toWellFormed()}…` : flat
  return (
    shown
      .replace(/[\\`*_{}[\]()#+!|~^$>-]/g, (character) => `\\${character}`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      // GitHub would notify mentioned users, link what looks like an address, and close numbered issues.
      .replaceAll('@', '@\u200b')
      .replaceAll('://', ':\u200b//')
      .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}\u200b.`)
  )
}

/** A text between fences that are longer than any in it, so that it is shown literally. */
export function fenced(text: string, language = ''): string {
  const shown = revealed(text).trimEnd()
  let longest = 0
  for (const [run] of shown.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${shown}\n${fence}`
}
