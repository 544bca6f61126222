import type { ShellWord, WordChoice } from './shell-word.ts'

const mostVariants = 64

/** Returns every possible value of a word. */
export function choicesOf(word: ShellWord | WordChoice): readonly ShellWord[] {
  return word.kind === 'either' ? word.choices : [word]
}

/** Creates a word whose value isn't tracked any further. */
export function unclear(text: string): ShellWord {
  return { kind: 'dynamic', text, prefix: '', single: true, from: 'commands' }
}

/**
 * Returns every command that can result if some words have several possible values. If there would be too many commands, the values of these words
 * count as unknown instead.
 */
export function variants(words: readonly (ShellWord | WordChoice)[]): readonly (readonly ShellWord[])[] {
  const count = words.reduce((product, word) => product * choicesOf(word).length, 1)
  if (count > mostVariants) return [words.map((word) => (word.kind === 'either' ? unclear(word.text) : word))]
  let made: ShellWord[][] = [[]]
  for (const word of words) {
    const [first, ...others] = choicesOf(word)
    if (first === undefined) continue
    const more = others.flatMap((choice) => made.map((before) => [...before, choice]))
    for (const before of made) before.push(first)
    made = [...made, ...more]
  }
  return made
}
