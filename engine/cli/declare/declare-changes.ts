import { Option, type Command } from 'commander'
import type { ApplyOptions } from '../apply-changes.ts'
import type { ChangesOptions } from '../changes-command.ts'
import type { SandboxOptions } from '../sandbox-options.ts'
import { confining } from './declare-sandbox.ts'
import { last, lastIn, nameOf, type Last } from './named-run.ts'
import type { Finish } from './shared-options.ts'

const about = 'the id of the run, or the beginning or end of the id'

/** Declares the commands for a run's changes: `agent changes`, `view`, `apply`, `discard` and `undo`. */
export function declareChanges(program: Command, finish: Finish): void {
  program
    .command('changes')
    .description('show the changes of a run')
    .argument('[run]', about)
    .option(...last)
    .option(...lastIn)
    .option('--diff', 'show the changes themselves')
    .option('--json', 'print one JSON object')
    .option('--patch <file>', 'write a patch for git apply --binary; - is standard output')
    .action(async (run: string | undefined, options: ChangesOptions & Last, command: Command) => {
      const { changesCommand } = await import('../changes-command.ts')
      finish(await changesCommand(nameOf(run, options, command), options))
    })
  const view = program
    .command('view')
    .description("run one command in the private view of a run whose changes haven't landed")
    .argument('[run]', `${about}; with --last, a word of the command`)
    .argument('[command...]', 'the command and its arguments, after --')
    .option(...last)
    .option(...lastIn)
    .addHelpText(
      'after',
      `
Examples:
  agent view 3f1b6a2d8c07 -- npm test
  agent view --last -- git log -p`,
    )
  confining(view).action(
    async (run: string | undefined, words: readonly string[], options: SandboxOptions & Last, command: Command) => {
      const { viewCommand } = await import('../view-command.ts')
      if (options.last !== true) return finish(await viewCommand(nameOf(run, options, command), words, options))
      const { cd: _, ...confining } = options
      finish(
        await viewCommand(nameOf(undefined, options, command), run === undefined ? [] : [run, ...words], confining),
      )
    },
  )
  program
    .command('apply')
    .description('land all or some of the changes that a run made and that have not landed')
    .argument('[run]', `${about}; with --last, a path`)
    .argument('[paths...]', 'files and directories, relative to the top of the tree; default: all')
    .option(...last)
    .option(...lastIn)
    .option('-p, --patch', 'ask about each file, hunk by hunk, as git add -p does; needs a terminal')
    .addOption(new Option('--land-commits', 'changes nothing: commits land with all changes').hideHelp())
    .action(
      async (run: string | undefined, paths: readonly string[], options: ApplyOptions & Last, command: Command) => {
        const { applyCommand } = await import('../apply-changes.ts')
        if (options.last !== true) return finish(await applyCommand(nameOf(run, options, command), paths, options))
        finish(
          await applyCommand(nameOf(undefined, options, command), run === undefined ? [] : [run, ...paths], options),
        )
      },
    )
  for (const [name, description] of [
    ['discard', 'discard the changes that a run made and that have not landed'],
    ['undo', 'revert the landed changes of a run'],
  ] as const)
    program
      .command(name)
      .description(description)
      .argument('[run]', about)
      .option(...last)
      .option(...lastIn)
      .action(async (run: string | undefined, options: Last, command: Command) => {
        const { discardCommand, undoCommand } = await import('../changes-command.ts')
        finish(await (name === 'discard' ? discardCommand : undoCommand)(nameOf(run, options, command)))
      })
}
