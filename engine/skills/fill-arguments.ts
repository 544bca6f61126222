import { splitWords } from '../../policies/index.ts'

/** The words of the arguments, split as a shell reads quotes. */
export function typedWords(given: string): readonly string[] {
  const typed = given.trim()
  // An apostrophe alone is no quote.
  return typed === '' ? [] : (splitWords(typed) ?? typed.split(/\s+/))
}

/**
 * Puts the arguments into the text of a command or skill: `$ARGUMENTS` is all of them, `$0`, `$1`… (and `$ARGUMENTS[0]`) its words, split
 * as a shell reads quotes. A text without a placeholder gets them at its end, lest they be lost.
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
