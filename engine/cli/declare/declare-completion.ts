import { Argument, type Command } from 'commander'
import type { Finish } from './shared-options.ts'

/** Declares `agent completion`, which describes the commands that are declared when it runs. */
export function declareCompletion(program: Command, finish: Finish): void {
  program
    .command('completion')
    .description('print a script that makes a shell complete the command lines of this program')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { printCompletion } = await import('../completion-command.ts')
      finish(printCompletion(shell, program))
    })
}
