import './zod-settings.ts'
import { everyCommand } from './cli/every-command.ts'
import { reporting } from './cli/reporting.ts'
import { runProgram } from './cli/program.ts'

/**
 * The program `agent`: runs the command that a command line names.
 *
 * @param argv the words after the program's name
 * @returns the exit code; what is wrong was said on stderr
 */
export const main = reporting((argv) => runProgram(argv, everyCommand))
