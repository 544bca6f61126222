import type { Command } from 'commander'
import type { ApplyOptions } from '../apply-changes.ts'
import type { ChangesOptions } from '../changes-command.ts'
import type { Finish } from './shared-options.ts'

const about = 'the id of the run, or the beginning or end of the id'
const last = ['--last', 'the newest run that worked in this directory'] as const

type Last = { readonly last?: true }

/** Declares the commands for the changes of a run with `--transactional`: `agent changes`, `apply`, `discard` and `undo`. */
export function declareChanges(program: Command, finish: Finish): void {
  program
    .command('changes')
    .description('show the changes of a --transactional run')
    .argument('[run]', about)
    .option(...last)
    .option('--diff', 'show the changes themselves')
    .option('--json', 'print one JSON object')
    .option('--patch <file>', 'write a patch for git apply --binary; - is standard output')
    .action(async (run: string | undefined, options: ChangesOptions & Last, command: Command) => {
      const { changesCommand } = await import('../changes-command.ts')
      finish(await changesCommand(nameOf(run, options, command), options))
    })
  program
    .command('apply')
    .description('land all or some of the changes that a --transactional run made and that have not landed')
    .argument('[run]', `${about}; with --last, a path`)
    .argument('[paths...]', 'files and directories, relative to the top of the tree; default: all')
    .option(...last)
    .option('-p, --patch', 'ask about each file, hunk by hunk, as git add -p does; needs a terminal')
    .option(
      '--land-commits',
      "move the checked-out branch to the run's commits, and change other branches and tags as the run did, unless they have changed since the run began",
    )
    .action(
      async (run: string | undefined, paths: readonly string[], options: ApplyOptions & Last, command: Command) => {
        const { applyCommand } = await import('../apply-changes.ts')
        if (options.last !== true) return finish(await applyCommand(nameOf(run, options, command), paths, options))
        finish(await applyCommand(undefined, run === undefined ? [] : [run, ...paths], options))
      },
    )
  program
    .command('discard')
    .description('discard the changes that a --transactional run made and that have not landed')
    .argument('[run]', about)
    .option(...last)
    .action(async (run: string | undefined, options: Last, command: Command) => {
      const { discardCommand } = await import('../changes-command.ts')
      finish(await discardCommand(nameOf(run, options, command)))
    })
  program
    .command('undo')
    .description('revert the landed changes of a --transactional run')
    .argument('[run]', about)
    .option(...last)
    .action(async (run: string | undefined, options: Last, command: Command) => {
      const { undoCommand } = await import('../changes-command.ts')
      finish(await undoCommand(nameOf(run, options, command)))
    })
}

/** The session that the command line names; undefined if `--last` was given. Reports a usage error if neither or both were given. */
function nameOf(run: string | undefined, options: Last, command: Command): string | undefined {
  if (options.last === true && run !== undefined) command.error('error: --last already names the run')
  if (options.last !== true && run === undefined) command.error('error: name a run, or give --last')
  return run
}
