import type { ExecOptions } from './exec-options.ts'
import { printResult, isTerminal } from './print.ts'

/** Prints a run's final message on standard output. Prints nothing if events are printed there, or if a person at the terminal has already seen the message. */
export function printFinalMessage(message: string, options: ExecOptions): void {
  if (options.json === true || (isTerminal('stdout') && isTerminal('stderr') && options.quiet !== true)) return
  printResult(message, options.outputSchema === undefined ? 'text' : 'json')
}
