/** Turns a path into a regular expression that matches exactly this path. */
export function quoteForRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/**
 * Like `quoteForRegex`, but matches letters in either case. On a volume that ignores case, which is the default on macOS, a command may create a file in any
 * spelling, and programs then find it by the usual spelling.
 */
export function quoteCaseless(text: string): string {
  return quoteForRegex(text).replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
