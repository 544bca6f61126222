import type { Command } from 'commander'

/**
 * Has every command of a program say what is wrong with its command line as the program says everything else: behind its own
 * name, in one line, with where to read on.
 *
 * @param name the command as a person types it, e.g. `agent exec`
 */
export function wordUsageErrors(command: Command, name: string): void {
  const [program = name] = name.split(' ')
  command.configureOutput({
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
