import type { Command } from 'commander'
import { configOptions, type ConfigOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent config` and `agent trust`. */
export function declareConfig(program: Command, finish: Finish): void {
  const config = program
    .command('config')
    .description('show the configuration and where it comes from')
    .helpCommand(false)
  configOptions(config.command('show'))
    .description('show each setting of a run in this directory with its source, and the settings that are ignored')
    .option('--json', 'print one JSON object')
    .action(async (options: ConfigOptions & { readonly json?: true }) => {
      const { configShow } = await import('../config-show.ts')
      finish(configShow(options))
    })

  configOptions(config.command('sources'))
    .description(
      'show each file that may contain configuration, rules, hooks, servers, skills or instructions, and its state',
    )
    .option('--json', 'print one JSON object per line')
    .action(async (options: ConfigOptions & { readonly json?: true }) => {
      const { configSources } = await import('../config-sources.ts')
      finish(await configSources(options))
    })

  config
    .command('schema')
    .description('print the JSON Schema of config.toml, for editors and for checks in CI')
    .action(async () => {
      const { configSchema } = await import('../config-schema.ts')
      finish(configSchema())
    })

  program
    .command('trust')
    .description('trust a repository: from now on, its own configuration, rules and permissions apply')
    .argument('[dir]', 'a directory in the repository (default: the current one)')
    .option('--list', 'only print which repositories are trusted or marked as untrusted')
    .action(async (directory: string | undefined, options: { readonly list?: true }) => {
      const { listTrust, trustRepository } = await import('../trust.ts')
      finish(options.list === true ? listTrust() : trustRepository(directory))
    })
}
