import process from 'node:process'
import { sanitizeForTerminal } from '../display/sanitize-for-terminal.ts'
import type { ExecOptions } from './exec-options.ts'

/** Prints a run's final message on standard output, unless a person has read it on that very terminal, or events are printed there. */
export function printFinalMessage(message: string, options: ExecOptions): void {
  const { stdout, stderr } = process
  if (options.json === true || (stdout.isTTY && stderr.isTTY && options.quiet !== true)) return
  // A file or a program gets the message as the model wrote it; a terminal gets it without control sequences.
  const text = stdout.isTTY ? sanitizeForTerminal(message) : message
  stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
}
