import type { Command } from 'commander'
import { configOptions, type ConfigOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent models`. */
export function declareModels(program: Command, finish: Finish): void {
  configOptions(program.command('models'))
    .description('ask the configured providers which models they offer, and list these with the prices known here')
    .argument('[provider]', 'the only provider to ask: openai, anthropic, ollama, lmstudio, or one of your own')
    .option('--json', 'print one JSON object per line, one for each provider')
    .addHelpText(
      'after',
      `
The first column is what -m takes. Prices are in US dollars per million tokens.

Exit codes:
  0  at least one provider sent its list
  2  no provider has a key, or there is no such provider
  6  no provider that was asked sent its list`,
    )
    .action(async (provider: string | undefined, options: ConfigOptions & { readonly json?: true }) => {
      const { runModels } = await import('../models-command.ts')
      finish(await runModels(provider, options))
    })
}
