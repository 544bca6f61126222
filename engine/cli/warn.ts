import process from 'node:process'

/** Prints a warning on standard error for the person who started the program. */
export function warn(sentence: string): void {
  process.stderr.write(`agent: ${sentence}\n`)
}
