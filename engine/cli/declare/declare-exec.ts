import { InvalidArgumentError, Option, type Command } from 'commander'
import { configOptions } from './config-options.ts'
import { declareReview } from './declare-review.ts'
import { another, count, dollars, positive } from './option-values.ts'
import { inPlace, viewHow, type Finish } from './shared-options.ts'
import { colours, landings, summaries, viewHows, type ExecOptions, type ReviewOptions } from '../exec-options.ts'
import type { Start } from '../../session/start-session.ts'

/** Declares `agent exec`. */
export function declareExec(program: Command, finish: Finish): void {
  const exec = runOptions(program.command('exec'))
    .alias('e')
    .description('run a task with nobody watching')
    .argument(
      '[prompt]',
      'what to do; read from standard input if it is "-" or omitted; otherwise, piped input is added to it',
    )
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  agent exec "make the tests pass"
  agent exec --json -m gpt-5.5 -s read-only "review the last commit" > events.jsonl
  git diff | agent exec "write a changelog entry for this" -o entry.md
  agent exec --verify "npm test" "move to ESM"
  agent exec resume --last "now the same for the other package"
  agent exec --plan "move the tests to vitest" && agent exec resume --last --no-plan "go ahead"`,
    )
    .action(async (prompt: string | undefined, options: ExecOptions) => {
      finish(await execute(prompt, options, { type: 'new' }))
    })

  declareReview(exec, runOptions, async (words, options, review) => {
    finish(await execute(words, together(exec.opts<ExecOptions>(), options), { type: 'new' }, review))
  })

  for (const type of ['resume', 'fork'] as const) {
    const command = runOptions(exec.command(type))
    if (type === 'fork')
      command.option(
        '--at <step>',
        'start from this step, without the later ones (agent sessions show prints the numbers); without a prompt, the model gets the request of this step again',
        positive,
      )
    command
      .description(type === 'resume' ? 'continue a session' : 'begin a new session with the history of another')
      .argument('[session]', 'the id of the session, or the beginning or end of the id; with --last, the prompt')
      .argument('[prompt]', 'what to do next; "-" or nothing reads standard input')
      .option('--last', 'the newest session of this workspace')
      .action(async (first: string | undefined, second: string | undefined, _: object, command: Command) => {
        const options = together(exec.opts<ExecOptions>(), command.opts<ExecOptions>())
        const last = command.opts<{ readonly last?: true }>().last === true
        if (!last && first === undefined) command.error('error: name a session, or give --last')
        if (last && second !== undefined) command.error('error: --last already names the session')
        const { at } = options
        const prompt = last ? first : second
        const id = last ? undefined : first
        const start: Start = type === 'fork' && at !== undefined ? { type, id, at } : { type, id }
        // A run that continues from a step needs no prompt, so it doesn't wait for one.
        finish(await execute(at === undefined ? prompt : (prompt ?? ''), options, start))
      })
  }
}

async function execute(
  prompt: string | undefined,
  options: ExecOptions,
  start: Start,
  review?: ReviewOptions,
): Promise<number> {
  const { reportStartupFailure } = await import('../report-startup-failure.ts')
  return reportStartupFailure(options.json === true, async (progress) => {
    const { runExec } = await import('../run-exec.ts')
    return runExec(prompt, options, start, progress, review)
  })
}

/**
 * Combines the options before a subcommand with those after it. If an option takes a list, both lists are joined; for any other option, the value after the
 * subcommand wins.
 */
function together(before: ExecOptions, after: ExecOptions): ExecOptions {
  return {
    ...before,
    ...after,
    // Without this line, the default of `stdin` after the subcommand would override a `--no-stdin` before it.
    stdin: before.stdin !== false && after.stdin !== false,
    config: [...before.config, ...after.config],
    image: [...(before.image ?? []), ...(after.image ?? [])],
    report: [...(before.report ?? []), ...(after.report ?? [])],
    ...(before.verify && after.verify ? { verify: [...before.verify, ...after.verify] } : {}),
    addDir: [...(before.addDir ?? []), ...(after.addDir ?? [])],
    allowRead: [...(before.allowRead ?? []), ...(after.allowRead ?? [])],
    service: [...(before.service ?? []), ...(after.service ?? [])],
    credential: [...(before.credential ?? []), ...(after.credential ?? [])],
  }
}

/** Declares the options that `agent exec`, its subcommands and `agent replay` have in common. */
export function runOptions(command: Command): Command {
  return configOptions(command.option('--json', 'print one event per line on standard output'))
    .addOption(
      new Option('--experimental-json', "the name that Codex's clients use for --json")
        .implies({ json: true })
        .hideHelp(),
    )
    .addOption(
      new Option('--supervised', 'set by agent batch, which starts the run and exchanges messages with it').hideHelp(),
    )
    .addOption(
      new Option(
        '--thread-source <name>',
        'a name for the person or program that begins a new session; it is stored with the session',
      ).hideHelp(),
    )
    .option('-q, --quiet', 'print nothing on standard error except the reason for a failure')
    .addOption(new Option('-v, --verbose', 'show outputs and changes in full on standard error').conflicts('quiet'))
    .option('-o, --output-last-message <file>', 'also write the final message to this file')
    .option(
      '--report <file>',
      'write a report of the run to this file (.html, .md, .json, .xml as JUnit, .sarif, codequality.json), readable only by you; may be repeated',
      another,
    )
    .option('--output-schema <file>', 'a JSON Schema that the final message must match')
    .option('--fail-on-denied', 'end the run with exit code 3 at the first call that is refused')
    .option('--max-turns <n>', 'end the run (exit code 4) after this number of responses from the model', positive)
    .option(
      '--max-cost <usd>',
      'end the run (exit code 4) before a request that could raise its cost above this amount',
      dollars,
    )
    .option('--timeout <seconds>', 'end the run (exit code 4) after this time', positive)
    .option('--plan', 'change nothing: explore, and end with a plan (or ask the person at the terminal to approve it)')
    .addOption(
      new Option(
        '--land <when>',
        'when the changes of the run land in the workspace: if it ended well, always, never, which keeps them for agent apply, after each response of the model whose calls have written something, or when a person at the terminal says so (default: on-success)',
      ).choices(landings),
    )
    .option(
      '--verify <command>',
      'a command to run in the sandbox when the model is done; if it fails, the model is told and continues; may be repeated',
      (command: string, earlier?: readonly string[] | false) => another(command, earlier || []),
    )
    .optionsGroup('Input and output:')
    .option('-i, --image <file,...>', 'add pictures to the prompt; may be repeated', images)
    .addOption(
      new Option(
        '--color <when>',
        'colour on standard error (default: auto, that is, on a terminal unless NO_COLOR is set)',
      ).choices(colours),
    )
    .addOption(
      new Option(
        '--summary <when>',
        "when to write GitHub's step summary (default: auto, which writes it if GITHUB_STEP_SUMMARY names a file)",
      ).choices(summaries),
    )
    .option(
      '--stdin-timeout <seconds>',
      'how long to wait for the first byte on standard input before continuing without it; without a prompt, the run then ends with exit code 2 (default: 10)',
      positive,
    )
    .option('--no-stdin', "don't read standard input")
    .optionsGroup('How a run ends:')
    .option(
      '--max-tokens <n>',
      'end the run (exit code 4) before a request that could exceed this number of tokens, input and output together',
      positive,
    )
    .option('--fail-on-no-change', 'end with exit code 1 if the run changed no file and made no commit')
    .addOption(
      new Option(
        '--claims',
        'make the model say at the end which tests passed, what it pushed and which files it changed, and compare that with the record',
      ).conflicts(['outputSchema', 'plan']),
    )
    .addOption(
      new Option(
        '--fail-on-contradiction',
        'end with exit code 1 if the record contradicts what the model says at the end (implies --claims)',
      ).conflicts(['outputSchema', 'plan']),
    )
    .optionsGroup('What lands:')
    .addOption(
      new Option('--land-ignored [=yes|no]', 'whether files that git ignores land too (default: yes)').choices([
        'yes',
        'no',
      ]),
    )
    .addOption(new Option(...viewHow).choices(viewHows))
    .addOption(new Option(...inPlace).conflicts(['view', 'transactional', 'land', 'landIgnored']))
    .addOption(new Option('--transactional [=how]', 'an older name of --view').choices(viewHows).hideHelp())
    .addOption(new Option('--land-commits', 'changes nothing: commits always land').hideHelp())
    .optionsGroup('What --verify accepts:')
    .option(
      '--verify-red <command>',
      'like --verify, and the command must have failed before: without the change, or without it but with its new tests; may be repeated',
      another,
    )
    .option('--no-verify', "with resume: don't run the session's --verify commands any more")
    .option(
      '--verify-attempts <n>',
      'the maximum number of times that the model is told about a failure before the run fails with exit code 1; 0 means no limit except the budgets (default: 2)',
      count,
    )
    .option('--allow-test-changes', 'with --verify: let a change land whose existing tests were rewritten to fit it')
    .option(
      '--allow-weakening <glob>',
      'with --verify: let tests or settings in these files become weaker; may be repeated',
      another,
    )
    .optionsGroup('Sessions:')
    .option('--no-plan', "with resume: approve the session's plan, and carry it out")
    .option('--ephemeral', 'store nothing about the run: no session, no audit log')
    .option('--skip-git-repo-check', 'allow a run outside a git repository')
    .option('--record <file>', 'write the conversation to a recording for replay:FILE')
    .optionsGroup('Instead of a run:')
    .option('--print-event-schema', 'print the JSON Schema of the --json events, and stop')
    .option('--show-context', 'print the instructions for the model with their sources, and stop')
    .optionsGroup('')
}

function images(value: string, earlier: readonly string[] = []): readonly string[] {
  const files = value.split(',')
  if (files.includes('')) throw new InvalidArgumentError('expected FILE or FILE,FILE.')
  return [...earlier, ...files]
}
