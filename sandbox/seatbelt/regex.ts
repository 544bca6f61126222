/** Escapes a text so that it stands for itself in a regular expression. */
export function quoteForRegex(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}

/**
 * Like `quoteForRegex`, but letters match in upper and lower case. On a volume that ignores case, as is the default on macOS, a command may create a
 * file in any spelling, and programs then find it under the usual spelling.
 */
export function quoteCaseless(text: string): string {
  return quoteForRegex(text).replace(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
}
