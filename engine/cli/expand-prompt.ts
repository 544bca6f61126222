import { namesServerPrompt } from '../mcp/prompts.ts'
import type { Command } from '../skills/definition.ts'
import { expandCommand } from '../skills/expand-command.ts'
import { UserError } from '../user-error.ts'

/**
 * What a prompt stands for: a command's text where it names one as `/name`, else itself. A prompt of an MCP server is left as it is.
 *
 * @throws UserError `usage` where it names a command that isn't there
 */
export function expandPrompt(
  typed: string,
  commands: readonly Command[],
): { readonly prompt: string; readonly command: Command | undefined } {
  const expanded = expandCommand(typed, commands)
  // What servers offer is known once they are there.
  const isServers = namesServerPrompt(typed) && expanded !== undefined && 'problem' in expanded
  if (expanded === undefined || isServers) return { prompt: typed, command: undefined }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return expanded
}
