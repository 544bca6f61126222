import './core/zod-settings.ts'
import { transactionsInProgress } from '../apply-patch/index.ts'
import { declareExec } from './cli/declare/declare-exec.ts'
import { everyCommand } from './cli/every-command.ts'
import { leaveOnlyAfter } from './cli/interrupts.ts'
import { withErrorReporting } from './cli/with-error-reporting.ts'
import { runProgram } from './cli/dispatch-command.ts'
import { tellUsageError } from './cli/tell-usage-error.ts'

leaveOnlyAfter(transactionsInProgress)

/**
 * The program `agent`: runs the command that a command line names.
 *
 * @param argv the words after the program's name
 * @param name the name by which the program was called: `agent` or `portcullis`
 * @param refusal the reason why nothing may run, if there is one
 * @returns the exit code. Errors are printed to stderr.
 */
export const main = withErrorReporting((argv, name, refusal) =>
  // `agent exec` declares only its own command, because declaring the others would slow down the start of every run.
  runProgram(argv, argv[0] === 'exec' ? declareExec : everyCommand, name, tellUsageError, refusal),
)
