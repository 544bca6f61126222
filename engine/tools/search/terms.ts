/** The search terms of a text. */
type Terms = {
  /** Lower-case words of letters and digits. A name such as `readFile_v2` is split into several words. */
  readonly words: readonly string[]
  /** Pairs of neighbouring characters in Chinese, Japanese and Korean text; a character that stands alone is a term too. */
  readonly bigrams: readonly string[]
}

const unspaced = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]+/gu

/** Splits a text into search terms. */
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

/** Words that may occur in any English sentence and say nothing about its subject. */
const functionWords: ReadonlySet<string> = new Set(
  (
    'a an and any are as at be been but by can could did do does done for from get had has have he her his how i if in into is it its ' +
    'just let may me more my no not now of on one or our out she should so some than that the their them then there these they this ' +
    'to up us use was we were what when where which while who will with would you your'
  ).split(' '),
)

/** Removes the words that say nothing about a text's subject. */
export function subjectOf(text: string): string {
  return text.replace(/\p{Script=Latin}+/gu, (word) => (functionWords.has(word.toLowerCase()) ? ' ' : word))
}

/** Makes `files` and `file` the same search term. */
function singular(word: string): string {
  return word.length > 3 && word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word
}
