/** Quotes a word for a shell. It stays unchanged if that is safe, and otherwise gets single quotes. */
export function shellQuote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
