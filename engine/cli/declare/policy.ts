import { Option, type Command } from 'commander'
import { isolated, sandboxModes, type Finish } from './shared.ts'
import type { PolicyOptions } from '../policy-options.ts'

/** Declares `agent policy` and `agent audit`. */
export function declarePolicy(program: Command, finish: Finish): void {
  const policy = program.command('policy').description('ask the Guardian what it would decide; nothing is run')
  policy.helpCommand(false).enablePositionalOptions()

  under(policy.command('check'))
    .description('say what would be decided about a command, and why')
    .argument('[command...]', 'the command and its arguments, after --; one word is a line for a shell')
    .option('--from <file>', 'judge each line of a file instead: a shell command, a JSON string, or {"command": …}')
    .option('--json', 'print one JSON object a line')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Examples:
  agent policy check -- git push origin main
  agent policy check --ask-for-approval untrusted --from commands.txt --json`,
    )
    .action(async (command: string[], options: PolicyOptions) => {
      const { policyCheck } = await import('../policy.ts')
      finish(policyCheck(command, options))
    })

  under(policy.command('explain'))
    .description('the same in words')
    .argument('<command...>', 'the command and its arguments, after --; one word is a line for a shell')
    .passThroughOptions()
    .action(async (command: string[], options: PolicyOptions) => {
      const { policyExplain } = await import('../policy.ts')
      finish(policyExplain(command, options))
    })

  under(policy.command('test'))
    .description('judge a table of commands; exit 1 when a decision is not the expected one')
    .argument('<file>', 'lines of {"command": …, "expect": "allow" | "ask" | "deny"} or "label": "safe" | "unsafe"')
    .action(async (file: string, options: PolicyOptions) => {
      const { policyTest } = await import('../policy.ts')
      finish(policyTest(file, options))
    })

  const audit = program.command('audit').description('look after audit logs')
  audit
    .helpCommand(false)
    .command('verify')
    .description('say whether a log is whole: no record edited, removed or cut off')
    .argument('<file>', 'the audit.jsonl of a session')
    .option(
      '--head <records:hash>',
      "audit_head of a run's last event: finds a cut that the log's own files don't show",
    )
    .action(async (file: string, { head }: { readonly head?: string }) => {
      const { auditVerify } = await import('../audit.ts')
      finish(auditVerify(file, head))
    })
}

function under(command: Command): Command {
  return command
    .addOption(
      new Option('-s, --sandbox <mode>', 'the sandbox (default: as agent exec would have it)').choices(sandboxModes),
    )
    .addOption(
      new Option('--ask-for-approval <when>', 'the approval mode (default: as agent exec would have it)').choices([
        'untrusted',
        'on-failure',
        'on-request',
        'never',
        'bypass',
      ]),
    )
    .option(...isolated)
    .option('--trust', 'let what the repository itself allows count')
    .option('--rules <file>', 'a further rule file; may be repeated', (file, files: string[]) => [...files, file], [])
}
