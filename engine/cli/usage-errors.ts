import type { Command } from 'commander'
import { printText, tellText } from './print.ts'
import { usageHint } from './usage-hints.ts'

/**
 * Makes every command of a program report usage errors like other errors: in one line that begins with the program's name, with a pointer to the command's
 * help.
 *
 * @param name the command as a person types it, e.g. `agent exec`
 * @param so the words after the program's name, and what prints help
 */
export function wordUsageErrors(
  command: Command,
  name: string,
  so: { readonly words: readonly string[]; readonly writeOut?: ((text: string) => void) | undefined },
): void {
  const [program = name] = name.split(' ')
  command.configureOutput({
    writeOut: so.writeOut ?? printText,
    writeErr: tellText,
    outputError: (text, write) => {
      const what = text
        .replace(/^error: /, '')
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
      const hint = usageHint(
        so.words,
        what,
        command.options.flatMap(({ long, hidden }) => (hidden || long === undefined ? [] : [long])),
      )
      const said = hint === undefined ? what : `${what.replace(/ \(Did you mean [^()]{1,99}\)$/, '')} (${hint})`
      write(`${program}: ${said} (see ${name} --help)\n`)
    },
  })
  for (const inner of command.commands) wordUsageErrors(inner, `${name} ${inner.name()}`, so)
}
