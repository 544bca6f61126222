import { revealed } from '../text/reveal.ts'

/**
 * Escapes text for one line of Markdown, so that it contains no markup, link, picture, raw HTML or mention. Newlines and tabs become spaces.
 *
 * @param most the maximum number of characters to show
 */
export function inline(text: string, most = 300): string {
  const flat = revealed(text).replaceAll('\n', ' ').replaceAll('\t', ' ')
  const shown = flat.length > most ? `${flat.slice(0, most - 1).toWellFormed()}…` : flat
  return (
    shown
      .replace(/[\\`*_{}[\]()#+!|~^$>-]/g, (character) => `\\${character}`)
      .replaceAll('&', '&amp;')
      .replaceAll('<', '&lt;')
      // Without these replacements, GitHub would notify mentioned users, turn anything that looks like an address into a link, and close issues that
      // the text mentions.
      .replaceAll('@', '@\u200b')
      .replaceAll('://', ':\u200b//')
      .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}\u200b.`)
  )
}

/** Puts a text between code fences that are longer than any fence in it, so that it is shown literally. */
export function fenced(text: string, language = ''): string {
  const shown = revealed(text).trimEnd()
  let longest = 0
  for (const [run] of shown.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${shown}\n${fence}`
}
