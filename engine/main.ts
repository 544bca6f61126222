import './core/zod-settings.ts'
import { transactionsInProgress } from '../apply-patch/index.ts'
import { declareExec } from './cli/declare/declare-exec.ts'
import { everyCommand } from './cli/every-command.ts'
import { leaveOnlyAfter } from './cli/interrupts.ts'
import { withErrorReporting } from './cli/with-error-reporting.ts'
import { runProgram, type DeclareCommands } from './cli/dispatch-command.ts'
import { declareAcp } from './cli/acp/declare-acp.ts'
import { declareClaude } from './cli/claude/declare-claude.ts'
import { declareCodex } from './cli/codex/declare-codex.ts'
import { tellUsageError } from './cli/tell-usage-error.ts'

leaveOnlyAfter(transactionsInProgress)

/** The commands that declare only themselves, because declaring the others would slow down the start of every run. */
const alone: ReadonlyMap<string | undefined, DeclareCommands> = new Map([
  ['exec', declareExec],
  ['codex', declareCodex],
  ['claude', declareClaude],
  ['acp', declareAcp],
])

/**
 * The program `agent`: runs the command that a command line names.
 *
 * @param argv the words after the program's name
 * @param name the name by which the program was called: `agent` or `portcullis`
 * @param refusal the reason why nothing may run, if there is one
 * @returns the exit code. Errors are printed to stderr.
 */
export const main = withErrorReporting((argv, name, refusal) =>
  runProgram(argv, alone.get(argv[0]) ?? everyCommand, name, tellUsageError, refusal),
)
