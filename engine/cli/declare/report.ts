import { Option, type Command } from 'commander'
import { reportFormats } from '../../report/formats.ts'
import type { ReportOptions } from '../report.ts'
import type { Finish } from './shared.ts'

/** Declares `agent report`. */
export function declareReport(program: Command, finish: Finish): void {
  program
    .command('report')
    .description('what a session did: a page to look at, or a file for other tools')
    .argument('<session>', "its id, or the beginning or end of it; its folder; or a file of exec --json's events")
    .option('-o, --output <file>', 'write it there, readable by you alone (default: standard output)')
    .addOption(
      new Option('--format <format>', "what to write (default: what the file's name says, or html)").choices(
        reportFormats,
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  agent report 3f1b6a2d8c07 -o report.html
  agent report 3f1b6a2d8c07 --format md | gh pr comment --body-file -
  agent report 3f1b6a2d8c07 --format annotations     # in a workflow of GitHub`,
    )
    .action(async (session: string, options: ReportOptions) => {
      const { reportCommand } = await import('../report.ts')
      finish(await reportCommand(session, options))
    })
}
