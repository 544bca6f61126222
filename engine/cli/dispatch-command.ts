import { Command, CommanderError, InvalidArgumentError, type Option } from 'commander'
import { bundledPackages } from '../core/bundled-packages.ts'
import { exitCodes } from '../core/exit-codes.ts'
import { version } from '../core/version.ts'
import { UserError } from '../core/user-error.ts'
import type { Finish } from './declare/shared-options.ts'
import { printJson } from './print.ts'
import { codeOf, leave, newLineOfTerminal, onSignals } from './interrupts.ts'
import { wordUsageErrors } from './usage-errors.ts'

/** Declares commands. Each of them calls `finish` with its exit code. */
export type DeclareCommands = (program: Command, finish: Finish) => void

/**
 * Parses a command line and runs the command that it names. Each command's module is loaded only when it is needed.
 *
 * @param given the arguments after the program's name
 * @param declare declares the commands
 * @param name the name under which the program was called
 * @param tellUsageError reports a usage error as an event, besides writing it to stderr
 * @param refusal the reason why nothing may run: the program would misread its arguments, its environment or the current directory
 * @returns the exit code
 * @throws UserError `usage` if there is a `refusal`
 */
export async function runProgram(
  given: readonly string[],
  declare: DeclareCommands,
  name = 'agent',
  tellUsageError: (argv: readonly string[], message: string) => Promise<void> = async () => undefined,
  refusal?: string,
): Promise<number> {
  if (refusal !== undefined) {
    await tellUsageError(given, `${refusal}.`)
    throw new UserError('usage', `${refusal}.`)
  }
  const { argv, help } = asHelp(given)
  let exitCode: number = exitCodes.done
  const finish: Finish = (code) => {
    exitCode = code
  }
  // Commands that want to end in an orderly way handle signals themselves.
  onSignals((reason) => {
    newLineOfTerminal()
    leave(codeOf(reason))
  })
  const program = new Command(name)
    .description('Runs a coding agent in a repository, in a sandbox, with a Guardian that judges everything it does.')
    .version(version, '--version', 'print the version, and with --json also the packages that are part of this program')
    .helpCommand('help [command...]', 'show the help of a command; with the word all, all of its options')
    .exitOverride()
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Exit codes:
  0 done
  1 the task failed
  2 wrong usage, configuration or rules
  3 stopped by the Guardian
  4 a budget ran out
  5 no sandbox can enforce the policy
  6 the model provider failed
  130/143 interrupted`,
    )
  // This text is never shown for `portcullis sandbox`, because a separate program handles that command.
  if (name === 'portcullis')
    program.addHelpText('after', '\nTo apply a patch, run portcullis apply-patch (see portcullis apply-patch --help)')
  const layout = help === undefined ? undefined : await import('./help-layout.ts')
  layout?.layOutHelp(program, help === 'all')
  declare(program, finish)
  refuseEmptyValues(program)
  wordUsageErrors(program, name, { words: given, writeOut: layout?.printHelp })

  if (argv.length === 0) {
    program.outputHelp({ error: true })
    return exitCodes.usage
  }
  if (argv.length === 2 && argv.includes('--version') && argv.includes('--json')) {
    printJson({ version, bundled: bundledPackages() })
    return exitCodes.done
  }
  try {
    const [first = ''] = argv
    const isUnknown = given[0] === 'help' && !first.startsWith('-') && !names(program).includes(first)
    await program.parseAsync(withValues(isUnknown ? [first] : argv), { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.done
    await tellUsageError(argv, error.message.replace(/^error: /, ''))
    return exitCodes.usage
  }
  return exitCode
}

function names(program: Command): readonly string[] {
  return program.commands.flatMap((command) => [command.name(), ...command.aliases()])
}

/**
 * Finds out whether a command line asks for help: `help exec`, `exec --help`, no words at all, and each of the first two with `all` at the end.
 *
 * @returns the command line in the form with `--help`, and how much help it asks for; undefined: none
 */
function asHelp(words: readonly string[]): {
  readonly argv: readonly string[]
  readonly help: 'usual' | 'all' | undefined
} {
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  const isNamed = words[0] === 'help'
  const help = options.at(-1) === 'all' ? 'all' : 'usual'
  if (isNamed) return { argv: [...words.slice(1, help === 'all' ? -1 : undefined), '--help'], help }
  const isAsked = words.length === 0 || options.some((word) => word === '--help' || word === '-h')
  return { argv: words, help: isAsked ? help : undefined }
}

/**
 * For each option that may be given without a value: the form that replaces it, which contains the default value. Without this, the parser would take
 * the next argument as the value.
 */
const withOptionalValue: Readonly<Record<string, string>> = {
  '--transactional': '--transactional=auto',
  '--land-ignored': '--land-ignored=yes',
}

function withValues(argv: readonly string[]): readonly string[] {
  const end = argv.indexOf('--')
  return argv.map((word, index) => (end === -1 || index < end ? (withOptionalValue[word] ?? word) : word))
}

/**
 * Makes every option of every command refuse an empty value where it needs one. A script whose variable is unset gives an empty value, and a check, a hidden file or
 * a directory that isn't named would silently not be there.
 */
function refuseEmptyValues(command: Command): void {
  for (const option of command.options) if (option.required) refuseEmptyValue(option)
  for (const each of command.commands) refuseEmptyValues(each)
}

function refuseEmptyValue(option: Option): void {
  const parse = option.parseArg
  option.argParser((value: string, earlier: unknown) => {
    if (value.trim() === '') throw new InvalidArgumentError('it is empty, as the value of an unset variable is.')
    return parse === undefined ? value : parse(value, earlier)
  })
}
