import { Option, type Command } from 'commander'
import {
  allowUnixSockets,
  externallySandboxed,
  inPlace,
  mountDockerSocket,
  openHome,
  sandboxModes,
  credential,
  allowRead,
  service,
  viewHow,
  type Finish,
} from './shared-options.ts'
import { names } from '../../core/backend-names.ts'
import { viewHows } from '../exec-options.ts'
import { commandLandings, type SandboxOptions } from '../sandbox-options.ts'

/** Declares `agent sandbox`. There is also a separate, smaller program that contains only this command. */
export function declareSandbox(program: Command, finish: Finish): void {
  const sandbox = program
    .command('sandbox')
    .description('run one command in the sandbox; its output and exit code are passed on')
    .argument('<command...>', 'the command and its arguments, after --')
    .option('-C, --cd <dir>', 'the workspace (default: the current directory)')
    .addOption(new Option(...externallySandboxed).conflicts(['backend', 'image']))
    .addOption(
      new Option(
        '--land <when>',
        "when the command's changes land in the workspace: each time it ends, on-success, or never, which keeps them for agent apply (default: each)",
      ).choices(commandLandings),
    )
    .addOption(new Option(...viewHow).choices(viewHows))
    .addOption(new Option(...inPlace).conflicts(['view', 'land']))
    .passThroughOptions()
    .addHelpText(
      'after',
      `
Examples:
  agent sandbox -- npm test
  agent sandbox -s read-only -C ../other -- ls -la
  agent sandbox --allow-host api.example.com -- ./check-links
  agent sandbox --service db=localhost:5432 -- npm run test:database
  agent sandbox --limit memory=512M --limit time=60 --env CI=true -- make check`,
    )
  confining(sandbox).action(async (command: string[], options: SandboxOptions) => {
    const { runSandbox } = await import('../sandbox-command.ts')
    finish(await runSandbox(command, options))
  })
}

/** Adds the options that say what a command may do in a sandbox. */
export function confining(command: Command): Command {
  return command
    .addOption(
      new Option('-s, --sandbox <mode>', 'what the command may access (default: workspace-write)').choices(
        sandboxModes,
      ),
    )
    .option('-c, --config <key=value>', 'set a configuration key; may be repeated', collect, [])
    .addOption(
      new Option('--backend <name>', 'the sandbox backend (default: chosen for this system)').choices(names.named),
    )
    .option('--image <name>', 'the image in which the docker backend runs the command; it must already exist')
    .option(
      '--writable <path>',
      'another directory or file that the command may write to; may be repeated',
      collect,
      [],
    )
    .option(
      '--readable <dir>',
      "a file or directory to show although commands wouldn't see it, such as a part of your home directory; may be repeated",
      collect,
      [],
    )
    .option(
      '--deny-read <path>',
      "another path to hide (it contains a slash), or a name to hide at any depth, such as .env or '*.pem'; may be repeated",
      collect,
      [],
    )
    .addOption(
      new Option(
        '--network <mode>',
        'which network the command can reach (default: as configured, otherwise off)',
      ).choices(['off', 'full']),
    )
    .option(
      '--allow-host <host[:port]>',
      'allow connections only to this host, or to the hosts of a preset (npm, pypi, crates, go, github, debian and others), through a proxy; ports 80 and 443 if none is named; may be repeated',
      collect,
      [],
    )
    .option(
      '--allow-private-host <host[:port]>',
      'like --allow-host, but the host may also be in a private network; may be repeated',
      collect,
      [],
    )
    .option(...allowRead, collect, [])
    .option(...service, collect, [])
    .option(...credential, collect, [])
    .option(
      '--env <name[=value]>',
      'give the command this environment variable, with its current or a new value; may be repeated',
      collect,
      [],
    )
    .option(
      '--limit <name=value>',
      'a limit for the command: time (seconds), memory, file-size, disk, output (bytes, or 512M), files, processes, open-files, cpus (docker only); may be repeated',
      collect,
      [],
    )
    .option(...openHome)
    .option(...allowUnixSockets)
    .option(...mountDockerSocket)
    .option('--json', 'print one JSON object with the output, how the command ended, and what was denied')
}

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
}
