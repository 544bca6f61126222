/** A path as a regular expression that matches exactly it. */
export function quoteForRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/**
 * The same, but with letters in either case: on a volume that ignores case, as on macOS by default, a new name may be spelled in any way and is found
 * by its usual spelling.
 */
export function quoteCaseless(text: string): string {
  return quoteForRegex(text).replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
