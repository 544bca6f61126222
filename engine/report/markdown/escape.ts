import { revealed } from '../text/reveal.ts'

/**
 * A text as it may stand in a line of Markdown: nothing of it is markup, a link, a picture, raw HTML, or somebody's mention. Line ends become spaces.
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
      // GitHub would tell whoever is named, link what looks like an address, and close what is numbered.
      .replaceAll('@', '@\u200b')
      .replaceAll('://', ':\u200b//')
      .replace(/\bwww\./gi, (word) => `${word.slice(0, 3)}\u200b.`)
  )
}

/** A text between fences that are longer than any in it, so that all of it is shown as it is. */
export function fenced(text: string, language = ''): string {
  const shown = revealed(text).trimEnd()
  let longest = 0
  for (const [run] of shown.matchAll(/`+/g)) longest = Math.max(longest, run.length)
  const fence = '`'.repeat(Math.max(3, longest + 1))
  return `${fence}${language}\n${shown}\n${fence}`
}
