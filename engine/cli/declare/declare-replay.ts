import type { Command } from 'commander'
import type { ReplayOptions } from '../replay-command.ts'
import { runOptions } from './declare-exec.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent replay`. */
export function declareReplay(program: Command, finish: Finish): void {
  runOptions(program.command('replay'))
    .description('replay a recorded conversation: no model is called, but commands are run and patches are applied')
    .argument(
      '<recording>',
      'a file from --record or agent sessions export; or a session: its id, the beginning or end of the id, or its folder',
    )
    .argument('[prompt]', "what to do (default: the recording's prompt; if it has none, standard input)")
    .option('--keep-going', 'continue if a result differs; at the end, fail and list all differences')
    .option('--update', 'continue if a result differs, and write the new result to the recording')
    .addHelpText(
      'after',
      `
Examples:
  agent replay conversation.jsonl "make the tests pass"
  agent replay 3f1b6a2d8c07 --keep-going --land never
  agent replay conversation.jsonl --update && git diff conversation.jsonl`,
    )
    .action(async (source: string, prompt: string | undefined, options: ReplayOptions) => {
      const { reportStartupFailure } = await import('../report-startup-failure.ts')
      finish(
        await reportStartupFailure(options.json === true, async (progress) => {
          const { runReplay } = await import('../replay-command.ts')
          return runReplay(source, prompt, options, progress)
        }),
      )
    })
}
