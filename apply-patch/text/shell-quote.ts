/** Quotes a word for a shell. It stays unchanged if it consists of letters, digits, `_`, `.`, `/` and `-`; otherwise it is put in single quotes. */
export function shellQuote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
