import process from 'node:process'
import { openTerminal, type AskPerson } from '../approvals/ask-at-terminal.ts'
import { isTerminal, rawOutput } from './print.ts'

/** Whether a person at the terminal can read a question and type an answer. With `--json`, nobody is asked. */
export function isPersonThere({ json }: { readonly json?: true } = {}): boolean {
  return process.stdin.isTTY && isTerminal('stderr') && json !== true
}

/** Opens the terminal of this process for questions. */
export function openOwnTerminal(): AskPerson {
  return openTerminal({ input: process.stdin, output: rawOutput.stderr })
}
