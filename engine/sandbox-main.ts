import './core/zod-settings.ts'
import { declareSandbox } from './cli/declare/declare-sandbox.ts'
import { withErrorReporting } from './cli/with-error-reporting.ts'
import { runProgram } from './cli/dispatch-command.ts'

/**
 * The program `agent` with `sandbox` as its only command. It is built separately because it is much smaller than the complete program: merely loading the
 * complete program takes longer than confining a command.
 *
 * @param argv the words after the program's name, the first being `sandbox`
 * @param name the name it was called by: `agent`, or `portcullis`
 * @param refusal the reason why nothing may run, if there is one
 * @returns the exit code; errors were printed on stderr
 */
export const main = withErrorReporting((argv, name, refusal) =>
  runProgram(argv, declareSandbox, name, undefined, refusal),
)
