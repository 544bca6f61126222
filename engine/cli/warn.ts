import process from 'node:process'

/** Prints a warning for the person who started the program, on standard error. */
export function warn(sentence: string): void {
  process.stderr.write(`agent: ${sentence}\n`)
}
