/** The user's prompt and the piped input, which somebody else may have written. */
type SplitPrompt = { readonly words: string; readonly piped?: string }

const opening = '\n\n<stdin>\n'

/** Joins a prompt and its piped input, which follows the user's words in a separate block. */
export function joinPiped({ words, piped }: SplitPrompt): string {
  if (piped === undefined) return words
  return `${words}${opening}${piped}${piped.endsWith('\n') ? '' : '\n'}</stdin>`
}

/** Splits a text from `joinPiped`. The piped input begins at the first possible place, so that no part of it ever counts as the user's words. */
export function splitPiped(prompt: string): SplitPrompt {
  const at = prompt.indexOf(opening)
  if (at < 0) return { words: prompt }
  return { words: prompt.slice(0, at), piped: prompt.slice(at + opening.length).replace(/<\/stdin>$/, '') }
}
