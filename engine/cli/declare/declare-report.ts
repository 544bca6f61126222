import { Option, type Command } from 'commander'
import { reportFormats } from '../../report/formats.ts'
import type { ReportOptions } from '../report-command.ts'
import { last, lastIn, nameOf, type Last } from './named-run.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent report`. */
export function declareReport(program: Command, finish: Finish): void {
  program
    .command('report')
    .description('write a report about a session: a page for people, or a file for other tools')
    .argument(
      '[session]',
      'the id of the session, or the beginning or end of the id; its folder; or a file with the events of exec --json',
    )
    .option(...last)
    .option(...lastIn)
    .option('-o, --output <file>', 'the file to write, readable only by you (default: standard output)')
    .addOption(
      new Option('--format <format>', "the format (default: that of the file's extension; html without -o)").choices(
        reportFormats,
      ),
    )
    .addHelpText(
      'after',
      `
Examples:
  agent report 3f1b6a2d8c07 -o report.html
  agent report 3f1b6a2d8c07 --format md | gh pr comment --body-file -
  agent report 3f1b6a2d8c07 --format annotations     # in a GitHub workflow`,
    )
    .action(async (session: string | undefined, options: ReportOptions & Last, command: Command) => {
      const { reportCommand } = await import('../report-command.ts')
      finish(await reportCommand(nameOf(session, options, command), options))
    })
}
