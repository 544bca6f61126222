import type { Command } from 'commander'
import { configOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'
import type { DoctorOptions } from '../doctor-command.ts'

/** Declares `agent doctor`. */
export function declareDoctor(program: Command, finish: Finish): void {
  configOptions(program.command('doctor'))
    .description('report what this machine can enforce, and what agent exec lacks here: model, key, git, configuration')
    .option('--skip-git-repo-check', 'don’t require a git repository')
    .option('--json', 'print the report as JSON')
    .option(
      '--protected',
      'only list the paths that are protected, or whose changes are reported, with the programs that use them',
    )
    .option(
      '--view',
      'only list what commands see of this machine in bubblewrap, and why, and what of home directories they don’t see',
    )
    .addHelpText(
      'after',
      `
Nothing is sent anywhere, and no key is printed. The options are the same as for agent exec, and the report is
about a run with these options.

Exit codes:
  0  nothing that agent exec needs is missing
  1  something is missing, marked "no"
  5  no sandbox on this machine can enforce what the options and the configuration ask for`,
    )
    .action(async (options: DoctorOptions) => {
      const { runDoctor } = await import('../doctor-command.ts')
      finish(await runDoctor(options))
    })
}
