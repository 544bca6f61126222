import { splitWords } from '../../policies/index.ts'

/** Splits the arguments into words. Quotes work as in a shell, unless they are unbalanced. */
export function typedWords(given: string): readonly string[] {
  const typed = given.trim()
  // If the quotes don't match, as with a single apostrophe, the arguments are split at spaces.
  return typed === '' ? [] : (splitWords(typed) ?? typed.split(/\s+/))
}

/**
 * Puts the arguments into the text of a command or skill. `$ARGUMENTS` is replaced by all arguments; `$0`, `$1`… (or `$ARGUMENTS[0]`…) by
 * single words, with quotes as in a shell. If the text has no placeholder, the arguments are appended, so that they are not lost.
 */
export function fillArguments(body: string, given: string): string {
  const typed = given.trim()
  const words = typedWords(typed)
  const blanks = /\$ARGUMENTS(?:\[(?<index>\d+)\])?|\$(?<short>\d+)/g
  if (typed !== '' && body.search(blanks) === -1) return `${body.trimEnd()}\n\nARGUMENTS: ${typed}\n`
  return body.replace(blanks, (...match) => {
    const { index, short } = match.at(-1) as { readonly index?: string; readonly short?: string }
    const at = index ?? short
    return at === undefined ? typed : (words[Number(at)] ?? '')
  })
}
