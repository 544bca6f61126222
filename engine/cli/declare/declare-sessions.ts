import { InvalidArgumentError, type Command } from 'commander'
import { last, lastIn, nameOf, type Last } from './named-run.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent sessions`. */
export function declareSessions(program: Command, finish: Finish): void {
  const sessions = program.command('sessions').description('show stored sessions, and remove old ones')
  sessions.helpCommand(false)
  sessions
    .command('list')
    .description('list the stored sessions, newest first')
    .option('--json', 'print one JSON object per line')
    .action(async (options: { readonly json?: true }) => {
      const { listCommand } = await import('../sessions-command.ts')
      finish(listCommand(options))
    })
  sessions
    .command('show')
    .description('show the conversation and the actions of a session')
    .argument('[session]', 'the id of the session, or the beginning or end of the id')
    .option(...last)
    .option(...lastIn)
    .action(async (session: string | undefined, options: Last, command: Command) => {
      const { showCommand } = await import('../sessions-command.ts')
      finish(showCommand(nameOf(session, options, command)))
    })
  sessions
    .command('export')
    .description('write a session as a recording, which agent replay and -m replay:FILE play without a model')
    .argument('[session]', 'the id of the session, or the beginning or end of the id; or its folder')
    .option(...last)
    .option(...lastIn)
    .option(
      '-o, --output <path>',
      'the file to write, readable only by you; if it is a directory, the recording is SESSION.jsonl in it (default: standard output)',
    )
    .action(async (session: string | undefined, options: { readonly output?: string } & Last, command: Command) => {
      const { exportCommand } = await import('../export-session.ts')
      finish(exportCommand(nameOf(session, options, command), options.output))
    })
  sessions
    .command('prune')
    .description('remove sessions that ended long ago')
    .requiredOption('--days <n>', 'keep sessions younger than this number of days', days)
    .option(
      '--unlanded',
      'also remove sessions whose changes were neither landed nor discarded (agent changes shows them)',
    )
    .action(async (options: { readonly days: number; readonly unlanded?: true }) => {
      const { pruneCommand } = await import('../sessions-command.ts')
      finish(await pruneCommand(options.days, options.unlanded === true))
    })
}

function days(value: string): number {
  if (/^\d{1,5}$/.test(value)) return Number(value)
  throw new InvalidArgumentError('expected a whole number from 0 to 99999.')
}
