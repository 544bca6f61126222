/**
 * The same text, in memory of its own. A piece of a text keeps all of the text alive that it is a piece of (V8 makes a slice of more than 12 characters a
 * view), so a report of short pieces would hold the whole session.
 */
export function ownText(text: string): string {
  return text.isWellFormed() ? Buffer.from(text).toString() : Buffer.from(text, 'utf16le').toString('utf16le')
}
