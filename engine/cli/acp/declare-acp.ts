import type { Command } from 'commander'
import type { Finish } from '../declare/shared-options.ts'

/** Declares `agent acp`, which serves an editor. */
export function declareAcp(program: Command, finish: Finish): void {
  program
    .command('acp')
    .description('speak the Agent Client Protocol with an editor, on standard input and output')
    .helpCommand(false)
    .action(async () => {
      const { runAcp } = await import('./run-acp.ts')
      finish(await runAcp())
    })
}
