import { InvalidArgumentError, Option, type Command } from 'commander'
import { configOptions } from './config-options.ts'
import { declareReview } from './review.ts'
import { another, count, dollars, positive } from './option-values.ts'
import type { Finish } from './shared.ts'
import { colours, landings, summaries, type ExecOptions, type ReviewOptions } from '../exec-options.ts'
import type { Start } from '../../session/start-session.ts'

/** Declares `agent exec`. */
export function declareExec(program: Command, finish: Finish): void {
  const exec = runOptions(program.command('exec'))
    .alias('e')
    .description('run a task with nobody watching')
    .argument('[prompt]', 'what to do; "-" or nothing reads standard input; with one, what is piped in is added')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Examples:
  agent exec "make the tests pass"
  agent exec --json -m gpt-5.5 -s read-only "review the last commit" > events.jsonl
  git diff | agent exec "write a changelog entry for this" -o entry.md
  agent exec --transactional --verify "npm test" "move to ESM"
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
        'go on from this step, as agent sessions show numbers them, without what came after; without a prompt, with its results',
        positive,
      )
    command
      .description(type === 'resume' ? 'go on with a session' : 'begin a new session with the history of another')
      .argument('[session]', 'its id, or the beginning or end of it; with --last, the prompt')
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
        // From a step it goes on by itself, and nobody is waited for.
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
    const { runExec } = await import('../exec.ts')
    return runExec(prompt, options, start, progress, review)
  })
}

/** Options before and after a subcommand: the later one wins, and lists are joined. */
function together(before: ExecOptions, after: ExecOptions): ExecOptions {
  return {
    ...before,
    ...after,
    // Its default would override an earlier option.
    stdin: before.stdin !== false && after.stdin !== false,
    config: [...before.config, ...after.config],
    image: [...(before.image ?? []), ...(after.image ?? [])],
    report: [...(before.report ?? []), ...(after.report ?? [])],
    ...(before.verify && after.verify ? { verify: [...before.verify, ...after.verify] } : {}),
    addDir: [...(before.addDir ?? []), ...(after.addDir ?? [])],
  }
}

/** Declares the options of every command that runs a model. */
export function runOptions(command: Command): Command {
  return configOptions(command.option('--json', 'print one event a line on standard output'))
    .addOption(
      new Option('--experimental-json', 'what clients of Codex call --json').implies({ json: true }).hideHelp(),
    )
    .addOption(new Option('--supervised', 'started by agent batch, which listens').hideHelp())
    .addOption(new Option('--thread-source <name>', 'kept with a new session: who began it').hideHelp())
    .option('-i, --image <file,...>', 'show the model pictures with the prompt; may be repeated', images)
    .addOption(
      new Option('--color <when>', 'colour on standard error (default: auto, a terminal without NO_COLOR)').choices(
        colours,
      ),
    )
    .option('-q, --quiet', 'say nothing on standard error but why a run failed')
    .addOption(new Option('-v, --verbose', 'show whole outputs and whole changes on standard error').conflicts('quiet'))
    .option('-o, --output-last-message <file>', 'write the final message to a file too')
    .option(
      '--report <file>',
      'write a report of the run there (.html, .md, .json, .xml as JUnit, .sarif, codequality.json), readable by you alone; may be repeated',
      another,
    )
    .addOption(
      new Option(
        '--summary <when>',
        "write GitHub's summary of the step (default: auto, where GITHUB_STEP_SUMMARY says that there is one)",
      ).choices(summaries),
    )
    .option('--output-schema <file>', 'a JSON Schema that the final message must meet')
    .option('--fail-on-denied', 'end the run with exit code 3 at the first call that is refused')
    .option('--fail-on-no-change', 'end with exit code 1 where the run changed no file and made no commit')
    .option('--max-turns <n>', 'end the run (exit code 4) after so many responses of the model', positive)
    .option(
      '--max-tokens <n>',
      'end the run (exit code 4) before a request that could use more tokens, in and out, all together',
      positive,
    )
    .option(
      '--max-cost <usd>',
      'end the run (exit code 4) before a request that could make it cost more than this',
      dollars,
    )
    .option('--timeout <seconds>', 'end the run (exit code 4) after so much time', positive)
    .option(
      '--stdin-timeout <seconds>',
      'wait so long for the first byte on standard input, then go on without it; without a prompt that is exit code 2 (default: 10)',
      positive,
    )
    .option('--no-stdin', "don't look at standard input")
    .option(
      '--plan',
      'change nothing: look around, and end with a plan (or ask the person at the terminal to approve it)',
    )
    .option('--no-plan', 'with resume: the plan of the session is approved, so carry it out')
    .addOption(
      new Option(
        '--transactional [=how]',
        'work on a private view of the workspace: all that patches and commands changed lands together at the end, or nothing. How the view is made: ' +
          'reflink, copy, overlay, or whichever works',
      )
        .choices(['auto', 'copy', 'reflink', 'overlay'])
        .preset('auto'),
    )
    .addOption(
      new Option('--land <when>', 'with --transactional: when what changed lands (default: on-success)').choices(
        landings,
      ),
    )
    .option('--land-ignored', 'with --transactional: what git ignores lands too')
    .option(
      '--land-commits',
      'with --transactional: the branch that is checked out moves to the commits of the run, if it is still where it was',
    )
    .option(
      '--verify <command>',
      'run it in the sandbox when the model is done; if it fails, the model is told and works on; may be repeated',
      (command: string, earlier?: readonly string[] | false) => another(command, earlier || []),
    )
    .option('--no-verify', 'with resume: verify nothing any more')
    .option(
      '--verify-attempts <n>',
      'how often the model is told before the run has failed with exit code 1; 0: until a budget ends (default: 2)',
      count,
    )
    .option('--ephemeral', 'keep nothing of the run: no session, no audit log')
    .option('--skip-git-repo-check', 'run outside a git repository too')
    .option('--record <file>', 'write the conversation down as a recording for replay:FILE')
    .option('--print-event-schema', 'print the JSON Schema of the events of --json, and stop')
    .option('--show-context', 'print what the model would be told, with each source, and stop')
}

function images(value: string, earlier: readonly string[] = []): readonly string[] {
  const files = value.split(',')
  if (files.includes('')) throw new InvalidArgumentError('expected FILE or FILE,FILE.')
  return [...earlier, ...files]
}
