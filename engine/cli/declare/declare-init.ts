import { Option, type Command } from 'commander'
import { configOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'
import type { InitOptions } from '../init-command.ts'

/** Declares `agent init`. */
export function declareInit(program: Command, finish: Finish): void {
  configOptions(program.command('init'))
    .description('write the files with which a repository begins: settings, rules, and a workflow if one is asked for')
    .option('--github', 'also write a workflow for GitHub')
    .option('--gitlab', 'also write a job for GitLab')
    .option('--jenkins', 'also write a pipeline for Jenkins')
    .option('--docker', 'also write a script that runs agent in a container')
    .option('--release <url>', 'the folder of a release: its archive, with its hash, is written into workflows')
    .addOption(
      new Option('--check', 'write nothing, and say what a run here lacks, in the order in which to mend it').conflicts(
        ['github', 'gitlab', 'jenkins', 'docker', 'release'],
      ),
    )
    .option('--json', 'print one JSON object')
    .addHelpText(
      'after',
      `
Files that exist are left as they are, and nothing is asked. Only --release sends
a request.

Exit codes:
  0  the files are there; with --check: nothing that agent exec needs is missing
  1  with --check: something is missing
  5  with --check: no sandbox on this machine can enforce what is asked for`,
    )
    .action(async (options: InitOptions) => {
      const { runInit } = await import('../init-command.ts')
      finish(await runInit(options))
    })
}
