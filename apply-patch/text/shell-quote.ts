/** Quotes a word for a shell. The word stays unchanged if it needs no quotes; otherwise it is put in single quotes. */
export function shellQuote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
