import type { Command } from 'commander'
import type { ApplyOptions } from '../apply-changes.ts'
import type { ChangesOptions } from '../changes.ts'
import type { Finish } from './shared.ts'

const about = 'its id, or the beginning or end of it'
const last = ['--last', 'the newest one that worked in this directory'] as const

type Last = { readonly last?: true }

/** Declares what can be done with the changes of a run with `--transactional`: `agent changes`, `apply`, `discard` and `undo`. */
export function declareChanges(program: Command, finish: Finish): void {
  program
    .command('changes')
    .description('what a run with --transactional changed')
    .argument('[run]', about)
    .option(...last)
    .option('--diff', 'show the changes themselves')
    .option('--json', 'print one JSON object')
    .option('--patch <file>', 'write a patch that git apply --binary takes; - is standard output')
    .action(async (run: string | undefined, options: ChangesOptions & Last, command: Command) => {
      const { changesCommand } = await import('../changes.ts')
      finish(await changesCommand(nameOf(run, options, command), options))
    })
  program
    .command('apply')
    .description('land what a run with --transactional changed and did not land, or some of it')
    .argument('[run]', `${about}; with --last, a path`)
    .argument('[paths...]', 'files and directories, from the top of the tree; default: all')
    .option(...last)
    .option('-p, --patch', 'ask about each file, hunk by hunk, as git add -p does; takes a terminal')
    .option('--land-commits', 'move the branch that is checked out to its commits, if it is still where it was')
    .action(
      async (run: string | undefined, paths: readonly string[], options: ApplyOptions & Last, command: Command) => {
        const { applyCommand } = await import('../apply-changes.ts')
        if (options.last !== true) return finish(await applyCommand(nameOf(run, options, command), paths, options))
        finish(await applyCommand(undefined, run === undefined ? [] : [run, ...paths], options))
      },
    )
  program
    .command('discard')
    .description('throw away what a run with --transactional changed and did not land')
    .argument('[run]', about)
    .option(...last)
    .action(async (run: string | undefined, options: Last, command: Command) => {
      const { discardCommand } = await import('../changes.ts')
      finish(await discardCommand(nameOf(run, options, command)))
    })
  program
    .command('undo')
    .description('take back what a run with --transactional landed')
    .argument('[run]', about)
    .option(...last)
    .action(async (run: string | undefined, options: Last, command: Command) => {
      const { undoCommand } = await import('../changes.ts')
      finish(await undoCommand(nameOf(run, options, command)))
    })
}

/** Undefined for the last one. */
function nameOf(run: string | undefined, options: Last, command: Command): string | undefined {
  if (options.last === true && run !== undefined) command.error('error: --last already names the run')
  if (options.last !== true && run === undefined) command.error('error: name a run, or give --last')
  return run
}
