import type { Command } from 'commander'
import { declareClaude } from './claude/declare-claude.ts'
import { declareCodex } from './codex/declare-codex.ts'
import { declareBatch } from './declare/declare-batch.ts'
import { declareChanges } from './declare/declare-changes.ts'
import { declareConfig } from './declare/declare-config.ts'
import { declareEvidence } from './declare/declare-evidence.ts'
import { declareDiff } from './declare/declare-diff.ts'
import { declareExec } from './declare/declare-exec.ts'
import { declareMcp } from './declare/declare-mcp.ts'
import { declareMcpServer } from './declare/declare-mcp-server.ts'
import { declarePlugins } from './declare/declare-plugins.ts'
import { declarePolicy } from './declare/declare-policy.ts'
import { declareDoctor } from './declare/declare-doctor.ts'
import { declareReport } from './declare/declare-report.ts'
import { declareReplay } from './declare/declare-replay.ts'
import { declareSandbox } from './declare/declare-sandbox.ts'
import { declareSessions } from './declare/declare-sessions.ts'
import { declareShim } from './declare/declare-shim.ts'
import type { DeclareCommands } from './dispatch-command.ts'

/**
 * The commands that themselves finish the reviews of killed runs, and don't start if that fails. (If a run was killed, the review of its changes may
 * be incomplete, and must be finished before the changed files can be trusted.) Before any other command starts, this module finishes these reviews
 * if possible. (`agent doctor --protected` needs no review, because it only prints a table.)
 */
const reviewing: readonly string[] = ['exec', 'codex', 'claude', 'replay', 'sandbox', 'doctor', 'mcp-server']

/** Declares all commands of `agent`. */
export const everyCommand: DeclareCommands = (program, finish) => {
  program.hook('preAction', async (_program, action) => {
    // `agent policy replay` starts no run, although its name is the same as that of a command that does.
    const [, command = ''] = commandsAbove(action).toReversed()
    if (reviewing.includes(command)) return
    const { finishReviewsIfPossible } = await import('../app/finish-reviews-first.ts')
    const { warn } = await import('./warn.ts')
    await finishReviewsIfPossible(warn)
  })
  declareExec(program, finish)
  declareBatch(program, finish)
  declareSessions(program, finish)
  declareChanges(program, finish)
  declareEvidence(program, finish)
  declareReport(program, finish)
  declareReplay(program, finish)
  declareDiff(program, finish)
  declareSandbox(program, finish)
  declareDoctor(program, finish)
  declarePolicy(program, finish)
  declareConfig(program, finish)
  declarePlugins(program, finish)
  declareMcp(program, finish)
  declareMcpServer(program, finish)
  declareCodex(program, finish)
  declareClaude(program, finish)
  declareShim(program, finish)
}

/** The names of a command and of the commands that contain it. */
function commandsAbove(command: Command): readonly string[] {
  return [command.name(), ...(command.parent === null ? [] : commandsAbove(command.parent))]
}
