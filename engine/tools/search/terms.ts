/** The words of a text, for searching. */
type Terms = {
  /** Words in Latin letters and digits, lower case; a name such as `readFile_v2` is several. */
  readonly words: readonly string[]
  /** Pairs of neighbouring characters of scripts that put no spaces between words. */
  readonly bigrams: readonly string[]
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu

/** Splits a text into what is searched for. */
export function termsOf(text: string): Terms {
  const words = text
    .replace(unspaced, ' ')
    .replace(/(\p{Ll}|\d)(\p{Lu})/gu, '$1 $2')
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map(singular)
  const bigrams = [...text.matchAll(unspaced)].flatMap(([run]) => {
    const characters = [...run]
    if (characters.length === 1) return characters
    return characters.slice(1).map((character, at) => `${characters[at] ?? ''}${character}`)
  })
  return { words, bigrams }
}

/** `files` and `file` are one word to whoever searches. */
function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
