/** What a user typed, and what was piped in beside it, which somebody else may have written. */
type SplitPrompt = { readonly words: string; readonly piped?: string }

const opening = '\n\n<stdin>\n'

/** A prompt with what was piped in beside it, in a block of its own behind the user's words. */
export function joinPiped({ words, piped }: SplitPrompt): string {
  if (piped === undefined) return words
  return `${words}${opening}${piped}${piped.endsWith('\n') ? '' : '\n'}</stdin>`
}

/** Parts what `joinPiped` joined. The block is taken to begin as early as it can: nothing in it ever counts as the user's words. */
export function splitPiped(prompt: string): SplitPrompt {
  const at = prompt.indexOf(opening)
  if (at < 0) return { words: prompt }
  return { words: prompt.slice(0, at), piped: prompt.slice(at + opening.length).replace(/<\/stdin>$/, '') }
}
