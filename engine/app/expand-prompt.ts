import { namesServerPrompt } from '../mcp/prompts.ts'
import type { Command } from '../skills/definition.ts'
import { joinPiped, splitPiped } from '../run/piped-input.ts'
import { expandCommand } from '../skills/expand-command.ts'
import { UserError } from '../core/user-error.ts'

/**
 * What a prompt stands for: a command's text where it names one as `/name`, else itself. A prompt of an MCP server is left as it is.
 *
 * @throws UserError `usage` where it names a command that isn't there
 */
export function expandPrompt(
  typed: string,
  commands: readonly Command[],
): { readonly prompt: string; readonly command: Command | undefined } {
  // What is piped in stays a block of its own: it fills no place of a command's text.
  const { words, ...piped } = splitPiped(typed)
  const expanded = expandCommand(words, commands)
  // What servers offer is known once they are there.
  const isServers = namesServerPrompt(typed) && expanded !== undefined && 'problem' in expanded
  if (expanded === undefined || isServers) return { prompt: typed, command: undefined }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return { ...expanded, prompt: joinPiped({ words: expanded.prompt, ...piped }) }
}
