import { InvalidArgumentError, Option, type Command } from 'commander'
import { another } from './option-values.ts'
import { last, lastIn, nameOf, type Last } from './named-run.ts'
import { isolated, sandboxModes, type Finish } from './shared-options.ts'
import { replayFailures, type PolicyOptions, type PolicyReplayOptions } from '../policy-options.ts'

/** Declares `agent policy` and `agent audit`. */
export function declarePolicy(program: Command, finish: Finish): void {
  const policy = program.command('policy').description('ask the Guardian what it would decide; nothing is run')
  policy.helpCommand(false).enablePositionalOptions()

  under(policy.command('check'))
    .description('print the decision about a command')
    .argument('[command...]', 'the command and its arguments, after --; a single argument is a shell command line')
    .option(
      '--from <file>',
      'judge each line of this file instead of one command; a line is a shell command, a JSON string, or {"command": …}',
    )
    .option('--json', 'print one JSON object per line')
    .option('--exit-zero', 'exit with 0 whatever the decisions are')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Exit codes: 0 if every command would run, 1 if one needs approval, 3 if one is refused, 2 for an error in the command line or in a file.

Examples:
  agent policy check -- git push origin main
  agent policy check --ask-for-approval untrusted --from commands.txt --json`,
    )
    .action(async (command: string[], options: PolicyOptions) => {
      const { policyCheck } = await import('../policy-command.ts')
      finish(await policyCheck(command, options))
    })

  under(policy.command('explain'))
    .description('explain in words how the Guardian judges a command')
    .argument('<command...>', 'the command and its arguments, after --; a single argument is a shell command line')
    .passThroughOptions()
    .action(async (command: string[], options: PolicyOptions) => {
      const { policyExplain } = await import('../policy-command.ts')
      finish(policyExplain(command, options))
    })

  under(policy.command('test'))
    .description('judge the commands in a file, and exit with 1 if a decision is not the expected one')
    .argument(
      '<file>',
      'a file with lines of {"command": …, "expect": "allow" | "ask" | "deny"}, or with "label": "safe" | "unsafe" instead of "expect"',
    )
    .action(async (file: string, options: PolicyOptions) => {
      const { policyTest } = await import('../policy-command.ts')
      finish(await policyTest(file, options))
    })

  declareReplay(policy, finish)

  const audit = program.command('audit').description('check audit logs')
  audit
    .helpCommand(false)
    .command('verify')
    .description('check that an audit log is intact: no record was edited, removed or cut off')
    .argument('[run]', 'the id of the run, or the beginning or end of the id; or its folder, or its audit.jsonl')
    .option(...last)
    .option(...lastIn)
    .option(
      '--head <records:hash>',
      "the audit_head in a run's last event; with it, the check also detects a truncation that the log's own files don't show",
    )
    .action(async (run: string | undefined, options: { readonly head?: string } & Last, command: Command) => {
      const { auditVerify } = await import('../audit.ts')
      finish(auditVerify(nameOf(run, options, command), options.head))
    })
}

function declareReplay(policy: Command, finish: Finish): void {
  modes(policy.command('replay'), 'as in each session')
    .description(
      'judge all actions of sessions again, and report which decisions change; no command runs, and no model is called',
    )
    .argument(
      '[runs...]',
      'sessions (an id, or the beginning or end of one, or a folder), folders that contain sessions, or audit logs',
    )
    .option('--all', 'all stored sessions')
    .option(
      '--rules <path>',
      'use this rule file, or the .rules files in this folder, instead of your own rules; may be repeated',
      another,
    )
    .option(
      '--permissions <file>',
      'use the permission lists in this file instead of your own; may be repeated',
      another,
    )
    .option('-c, --config <key=value>', 'set a configuration key; may be repeated', another, [])
    .option('-p, --profile <name>', 'use the settings of [profiles.NAME] in your configuration')
    .addOption(
      new Option(
        '--fail-on <change>',
        'when to exit with 1: allow (if a decision becomes "allow"), any (if a decision changes) or none (never)',
      )
        .choices(replayFailures)
        .default('allow'),
    )
    .option('--examples <n>', 'how many examples to show of each kind of change', positive, 3)
    .option('--json', 'print one JSON object per line: every change, then the summary')
    .addHelpText(
      'after',
      `
Without --rules and similar options, the replay uses the rules and permissions that agent exec would now read in the workspace of each session. If an action needs approval, the replay uses the earlier answers of people and reviewers.

Examples:
  agent policy replay --all --rules new-rules/
  agent policy replay 3f1b6a2d8c07 --ask-for-approval untrusted
  agent policy replay artifacts/ --permissions settings.json --fail-on any --json`,
    )
    .action(async (runs: string[], options: PolicyReplayOptions) => {
      const { policyReplay } = await import('../policy-replay/policy-replay.ts')
      finish(policyReplay(runs, options))
    })
}

function under(command: Command): Command {
  return modes(command, 'as configured for agent exec').option(
    '--rules <file>',
    'an additional rule file; may be repeated',
    another,
    [],
  )
}

function modes(command: Command, otherwise: string): Command {
  return command
    .addOption(new Option('-s, --sandbox <mode>', `the sandbox (default: ${otherwise})`).choices(sandboxModes))
    .addOption(
      new Option('--ask-for-approval <when>', `the approval mode (default: ${otherwise})`).choices([
        'untrusted',
        'on-failure',
        'on-request',
        'never',
        'bypass',
      ]),
    )
    .option(...isolated)
    .option('--trust', 'trust the repository, so that its own rules and permissions can allow actions too')
}

function positive(value: string): number {
  if (/^\d{1,6}$/.test(value) && Number(value) > 0) return Number(value)
  throw new InvalidArgumentError('expected a whole number from 1 to 999999.')
}
