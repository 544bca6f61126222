import { declareConfig } from './declare/config.ts'
import { declareExec } from './declare/exec.ts'
import { declareMcpServer } from './declare/mcp-server.ts'
import { declarePlugins } from './declare/plugins.ts'
import { declarePolicy } from './declare/policy.ts'
import { declareSandbox } from './declare/sandbox.ts'
import { declareSessions } from './declare/sessions.ts'
import type { DeclareCommands } from './program.ts'

/** Declares all that `agent` can do. */
export const everyCommand: DeclareCommands = (program, finish, argv) => {
  declareExec(program, finish)
  declareSessions(program, finish)
  declareSandbox(program, finish)
  declarePolicy(program, finish)
  declareConfig(program, finish)
  declarePlugins(program, finish)
  declareMcpServer(program, finish, argv)
}
