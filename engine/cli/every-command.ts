import { declareAcp } from './acp/declare-acp.ts'
import { declareClaude } from './claude/declare-claude.ts'
import { declareCodex } from './codex/declare-codex.ts'
import { declareBatch } from './declare/declare-batch.ts'
import { declareChanges } from './declare/declare-changes.ts'
import { declareCompletion } from './declare/declare-completion.ts'
import { declareConfig } from './declare/declare-config.ts'
import { declareEvidence } from './declare/declare-evidence.ts'
import { declareDiff } from './declare/declare-diff.ts'
import { declareExec } from './declare/declare-exec.ts'
import { declareInit } from './declare/declare-init.ts'
import { declareMcp } from './declare/declare-mcp.ts'
import { declareMcpServer } from './declare/declare-mcp-server.ts'
import { declareModels } from './declare/declare-models.ts'
import { declarePlugins } from './declare/declare-plugins.ts'
import { declarePolicy } from './declare/declare-policy.ts'
import { declareDoctor } from './declare/declare-doctor.ts'
import { declareReport } from './declare/declare-report.ts'
import { declareReplay } from './declare/declare-replay.ts'
import { declareSandbox } from './declare/declare-sandbox.ts'
import { declareSessions } from './declare/declare-sessions.ts'
import { declareShim } from './declare/declare-shim.ts'
import type { DeclareCommands } from './dispatch-command.ts'

/** Declares all commands of `agent`. */
export const everyCommand: DeclareCommands = (program, finish) => {
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
  declareInit(program, finish)
  declareModels(program, finish)
  declarePolicy(program, finish)
  declareConfig(program, finish)
  declarePlugins(program, finish)
  declareMcp(program, finish)
  declareMcpServer(program, finish)
  declareCodex(program, finish)
  declareClaude(program, finish)
  declareAcp(program, finish)
  declareShim(program, finish)
  declareCompletion(program, finish)
}
