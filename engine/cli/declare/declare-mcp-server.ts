import type { Command } from 'commander'
import { configOptions, type ConfigOptions } from './config-options.ts'
import type { Finish } from './shared-options.ts'

/** Declares `agent mcp-server`. */
export function declareMcpServer(program: Command, finish: Finish): void {
  configOptions(program.command('mcp-server'))
    .description('offer exec, sandboxed_shell and apply_patch to other agents, over standard input and output')
    .addHelpText(
      'after',
      `
Example, in the .mcp.json of another agent:
  {"mcpServers": {"portcullis": {"command": "agent", "args": ["mcp-server", "-s", "workspace-write"]}}}`,
    )
    .action(async (options: ConfigOptions) => {
      const { runMcpServer } = await import('../mcp-server-command.ts')
      finish(await runMcpServer(options))
    })
}
