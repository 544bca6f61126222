/**
 * Copies a string into separate memory. V8 makes a slice of more than 12 characters a view of the original string, which keeps the original alive; a report
 * made of short slices would keep the whole session in memory.
 */
export function ownText(text: string): string {
  return text.isWellFormed() ? Buffer.from(text).toString() : Buffer.from(text, 'utf16le').toString('utf16le')
}
