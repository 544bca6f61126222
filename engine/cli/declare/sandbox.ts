import { Option, type Command } from 'commander'
import { sandboxModes, type Finish } from './shared.ts'

/** What `agent sandbox` was asked to do. */
export type SandboxOptions = {
  readonly sandbox: (typeof sandboxModes)[number]
  readonly cd?: string
}

/** Declares `agent sandbox` and `agent doctor`. */
export function declareSandbox(program: Command, finish: Finish): void {
  program
    .command('sandbox')
    .description('run one command in the sandbox; its output and exit code pass through')
    .argument('<command...>', 'the command and its arguments, after --')
    .addOption(
      new Option('-s, --sandbox <mode>', 'what the command may touch').choices(sandboxModes).default('workspace-write'),
    )
    .option('-C, --cd <dir>', 'the workspace (default: the current directory)')
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Examples:
  agent sandbox -- npm test
  agent sandbox -s read-only -C ../other -- ls -la`,
    )
    .action(async (command: string[], options: SandboxOptions) => {
      const { runSandbox } = await import('../sandbox.ts')
      finish(await runSandbox(command, options))
    })

  program
    .command('doctor')
    .description('say what this machine can enforce, why not where it can’t, and what would change it')
    .option('--json', 'print the report as JSON')
    .action(async (options: { readonly json?: true }) => {
      const { runDoctor } = await import('../doctor.ts')
      finish(await runDoctor(options))
    })
}
