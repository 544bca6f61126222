import type { Command } from '../sandbox.ts'

/**
 * A command's standard input, as the value for the `stdio` option of `child_process`. If the command has a terminal, the terminal gets its input through a
 * pipe.
 */
export function stdinOf(command: Command): 'ignore' | 'pipe' | 'inherit' {
  if (command.terminal !== undefined) return 'pipe'
  switch (command.stdin) {
    case undefined:
    case 'null':
      return 'ignore'
    case 'pipe':
    case 'inherit':
      return command.stdin
    default:
      return command.stdin satisfies never
  }
}
