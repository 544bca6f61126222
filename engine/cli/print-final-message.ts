import process from 'node:process'
import { sanitizeForTerminal } from '../display/sanitize-for-terminal.ts'
import type { ExecOptions } from './exec-options.ts'

/** Prints a run's final message on standard output. Prints nothing if events are printed there, or if a person at the terminal has already seen the message. */
export function printFinalMessage(message: string, options: ExecOptions): void {
  const { stdout, stderr } = process
  if (options.json === true || (stdout.isTTY && stderr.isTTY && options.quiet !== true)) return
  // A terminal gets the message without control sequences; a file or a program gets it as the model wrote it.
  const text = stdout.isTTY ? sanitizeForTerminal(message) : message
  stdout.write(text === '' || text.endsWith('\n') ? text : `${text}\n`)
}
