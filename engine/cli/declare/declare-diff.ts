import type { Command } from 'commander'
import type { Finish } from './shared-options.ts'

/** Declares `agent diff`. */
export function declareDiff(program: Command, finish: Finish): void {
  program
    .command('diff')
    .description(
      'compare two sessions: their starts, steps, changes and costs; exit 1 if they differ in more than figures such as their costs',
    )
    .argument('<a>', 'a session: its id, the beginning or end of the id, or its folder')
    .argument('<b>', 'another')
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Ids, times, paths of the workspace and of temporary files, the order of parallel calls, and text that accompanies calls are not compared.

Examples:
  agent diff 3f1b6a2d8c07 77c09e51d2aa
  agent diff out/runs/a~gpt-5.5/1/session out/runs/a~claude-sonnet-5/1/session --json`,
    )
    .action(async (a: string, b: string, options: { readonly json?: true }) => {
      const { diffCommand } = await import('../diff-command.ts')
      finish(diffCommand(a, b, options))
    })
}
