/** A word in a form that a shell reads: unchanged if that is safe, else in single quotes. */
export function shellQuote(word: string): string {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}
