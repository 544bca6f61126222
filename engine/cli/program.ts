import { Command, CommanderError } from 'commander'
import { exitCodes } from '../exit-codes.ts'
import { version } from '../version.ts'
import type { Finish } from './declare/shared.ts'
import { wordUsageErrors } from './usage-errors.ts'

/** Declares commands: each takes `finish` to say its exit code. `argv` are the words of the whole command line. */
export type DeclareCommands = (program: Command, finish: Finish, argv: readonly string[]) => void

/**
 * Parses a command line and runs the command it names. Each command's own module is loaded only when it is the one.
 *
 * @param argv the words after the program's name
 * @param declare says which commands there are
 * @returns the exit code
 */
export async function runProgram(argv: readonly string[], declare: DeclareCommands): Promise<number> {
  let exitCode: number = exitCodes.done
  const finish: Finish = (code) => {
    exitCode = code
  }
  const program = new Command('agent')
    .description('Runs a coding agent in a repository, sandboxed, with a Guardian in front of everything it does.')
    .version(version, '--version', 'print the version')
    .helpCommand(false)
    .exitOverride()
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Exit codes:
  0 done   1 the task failed   2 usage, configuration, rules   3 stopped by the Guardian   4 a budget ran out
  5 no sandbox can enforce the policy   6 the model provider failed   130/143 interrupted`,
    )
  declare(program, finish, argv)
  wordUsageErrors(program, 'agent')

  if (argv.length === 0) {
    program.outputHelp({ error: true })
    return exitCodes.usage
  }
  try {
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return exitCodes.done
    if (wantsEvents(argv)) {
      const { tellFailure } = await import('./tell-start.ts')
      tellFailure('usage', error.message.replace(/^error: /, ''))
    }
    return exitCodes.usage
  }
  return exitCode
}

/** Whether a command line that can't be understood asks for a run's events all the same. */
function wantsEvents([command = '', ...words]: readonly string[]): boolean {
  const end = words.indexOf('--')
  const options = end === -1 ? words : words.slice(0, end)
  return ['exec', 'e'].includes(command) && options.some((word) => word === '--json' || word === '--experimental-json')
}
