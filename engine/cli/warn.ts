import process from 'node:process'

/** Says something to the person who started the program, whatever it prints otherwise. */
export function warn(sentence: string): void {
  process.stderr.write(`agent: ${sentence}\n`)
}
