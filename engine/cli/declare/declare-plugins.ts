import type { Command } from 'commander'
import { configOptions, type ConfigOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent plugins`. */
export function declarePlugins(program: Command, finish: Finish): void {
  configOptions(program.command('plugins'))
    .description('list the enabled plugins, and what each provides')
    .option('--json', 'print one JSON object per line')
    .action(async (options: ConfigOptions & { readonly json?: true }) => {
      const { pluginsCommand } = await import('../plugins-command.ts')
      finish(await pluginsCommand(options))
    })
}
