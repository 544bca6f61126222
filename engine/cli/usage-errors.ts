import type { Command } from 'commander'
import { printText, tellText } from './print.ts'

/**
 * Makes every command of a program report usage errors like other errors: in one line that begins with the program's name, with a pointer to the command's
 * help.
 *
 * @param name the command as a person types it, e.g. `agent exec`
 */
export function wordUsageErrors(command: Command, name: string): void {
  const [program = name] = name.split(' ')
  command.configureOutput({
    writeOut: printText,
    writeErr: tellText,
    outputError: (text, write) => {
      const what = text
        .replace(/^error: /, '')
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
      write(`${program}: ${what} (see ${name} --help)\n`)
    },
  })
  for (const inner of command.commands) wordUsageErrors(inner, `${name} ${inner.name()}`)
}
