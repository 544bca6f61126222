import { Command, CommanderError, InvalidArgumentError, type OutputConfiguration } from 'commander'
import { commands, durable } from './subcommands.ts'
import { helpText } from './help.ts'
import { rootFault } from './root-fault.ts'
import { defaults, type Settings } from './apply-settings.ts'

/** The version of the package, which a test compares with this: there is no file from which a program that is a single file could read it. */
const version = '0.1.0'

/** What a command line asks for: a run with the given settings, or a text to print and an exit code. */
export type Call =
  | { readonly type: 'run'; readonly settings: Settings }
  | { readonly type: 'print'; readonly text: string; readonly to: 1 | 2; readonly exitCode: number }

/** Reads a command line that has options or a command. */
export function parseArguments(arguments_: readonly string[]): Call {
  let settings: Settings | undefined
  let output = ''
  const collect = (text: string): void => {
    output += text
  }
  const toOutput: OutputConfiguration = {
    writeOut: collect,
    writeErr: collect,
    outputError: (text, write) => {
      const what = text
        .replace(/^error: /, '')
        .trim()
        .replaceAll(/\s*\n\s*/g, ' ')
      write(`apply-patch: ${what} (see apply-patch --help)\n`)
    },
  }
  const program = new Command('apply-patch')
  program
    .exitOverride()
    .configureOutput(toOutput)
    .description('Applies a patch in the "*** Begin Patch" format to a tree, completely or not at all.')
    .argument('[patch]', 'the patch itself; if omitted, it is read from standard input')
    .option('--check', 'change nothing, and report what would happen')
    .option('--diff', 'print a unified diff of the planned or applied changes')
    .option('--json', 'print one JSON object instead of text')
    .option('--strict', 'refuse patches that deviate from the grammar, match ambiguously, or overwrite files')
    .option('--root <dir>', 'the tree to change', existingDirectory, '.')
    .option('--reverse', 'revert the patch instead of applying it')
    .option('--unsafe-paths', 'allow paths that leave the root or lead into .git')
    .option(durable.flag, durable.meaning)
    .version(version, '--version')
    .allowExcessArguments(true)
    .addHelpText('after', helpText)
    .action((patch: string | undefined, options: Partial<Settings>) => {
      settings = { ...defaults, ...options, patch }
    })
  for (const { name, description, help, own, foreign } of commands) {
    program
      .command(name)
      .description(description)
      .option('--root <dir>', 'the tree to change', existingDirectory, '.')
      .option('--json', 'print one JSON object instead of text')
      .option(own.flag, own.meaning)
      .addHelpText('after', help)
      .allowExcessArguments(false)
      .exitOverride()
      .configureOutput(toOutput)
      .action((_: unknown, command: Command) => {
        const options = command.optsWithGlobals<Partial<Settings>>()
        for (const [key, flag] of foreign) {
          if (options[key] === true) command.error(`error: '${name}' has no option ${flag}`)
        }
        settings = { ...defaults, ...options, command: name }
      })
  }
  try {
    program.parse(arguments_, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    const failed = error.exitCode !== 0
    return { type: 'print', text: output, to: failed ? 2 : 1, exitCode: failed ? 2 : 0 }
  }
  if (program.args.length > 1 && settings?.command === 'apply') return tooMany
  return settings === undefined ? tooMany : { type: 'run', settings }
}

/** Returns the path if it can be used as the root. Otherwise, reports a usage error, because no patch could be applied. */
function existingDirectory(path: string): string {
  const fault = rootFault(path)
  if (fault !== undefined) throw new InvalidArgumentError(fault)
  return path
}

/** The message and exit code with which Codex's program refuses more than one argument. */
const tooMany: Call = {
  type: 'print',
  text: 'Error: apply_patch accepts exactly one argument.\n',
  to: 2,
  exitCode: 2,
}
