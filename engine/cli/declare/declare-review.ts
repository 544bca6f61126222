import { Option, type Command } from 'commander'
import { severities } from '../../core/severities.ts'
import type { ExecOptions, ReviewOptions } from '../exec-options.ts'

/**
 * Declares `agent exec review`.
 *
 * @param runOptions declares the options that every run has
 * @param execute runs the review with the options from before and after the subcommand
 */
export function declareReview(
  exec: Command,
  runOptions: (command: Command) => Command,
  execute: (words: string | undefined, options: ExecOptions, review: ReviewOptions) => Promise<void>,
): void {
  const targets = ['uncommitted', 'base', 'commit']
  const others = (name: string): string[] => targets.filter((each) => each !== name)
  runOptions(exec.command('review'))
    .description('review a change, in a read-only sandbox, and report findings with their lines')
    .argument('[words]', 'what to look for; "-" reads it from standard input')
    .addOption(
      new Option(
        '--uncommitted',
        'review staged, unstaged and untracked changes (the default, if no diff is piped in)',
      ).conflicts(others('uncommitted')),
    )
    .addOption(
      new Option(
        '--base <branch>',
        'review all changes since the common ancestor of <branch> and the checked-out commit',
      ).conflicts(others('base')),
    )
    .addOption(new Option('--commit <sha>', 'review the changes of a commit').conflicts(others('commit')))
    .option(
      '--known <file>',
      'a report of an earlier review (.json, .sarif, codequality.json): its findings are not reported again; may be repeated',
      (file: string, earlier: readonly string[] = []) => [...earlier, file],
    )
    .addOption(
      new Option(
        '--fail-on <severity>',
        'end with exit code 1 if a new finding has this severity or a higher one',
      ).choices(severities),
    )
    .addHelpText(
      'after',
      `
Examples:
  agent exec review
  agent exec review --base main --report review.sarif --report review.html --fail-on high
  git diff v1.2 v1.3 -- src | agent exec review "what breaks for those who call this?"
  agent exec review --base main --known last-review.json --report last-review.json`,
    )
    .action(async (words: string | undefined, _: object, command: Command) => {
      const { uncommitted, base, commit, known, failOn } = command.opts<ReviewOptions>()
      await execute(words, command.opts<ExecOptions>(), {
        ...(uncommitted === undefined ? {} : { uncommitted }),
        ...(base === undefined ? {} : { base }),
        ...(commit === undefined ? {} : { commit }),
        ...(known === undefined ? {} : { known }),
        ...(failOn === undefined ? {} : { failOn }),
      })
    })
}
