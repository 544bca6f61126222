import type { Command } from '../sandbox.ts'

/** A command's standard input as `child_process` spells it. */
export function stdinOf(command: Command): 'ignore' | 'pipe' | 'inherit' {
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
