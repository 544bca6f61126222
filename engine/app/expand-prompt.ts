import { namesServerPrompt } from '../mcp/prompts.ts'
import type { Definitions } from '../skills/definition.ts'
import { joinPiped, splitPiped } from '../run/piped-input.ts'
import { expandCommand, type Expanded } from '../skills/expand-command.ts'
import { UserError } from '../core/user-error.ts'

/** A prompt as it was given, or what the command or skill makes of it that it names. */
export type NamedPrompt = Partial<Pick<Expanded, 'followed' | 'looked'>> & { readonly prompt: string }

/**
 * What a prompt stands for: a command's or skill's text where it names one as `/name`, else itself. A prompt of an MCP server is left as it
 * is.
 *
 * @throws UserError `usage` where it names one that isn't there, or whose text can't be filled in
 */
export function expandPrompt(
  typed: string,
  definitions: Pick<Definitions, 'commands' | 'skills'>,
  workspace: string,
): NamedPrompt {
  // What is piped in stays a block of its own: it fills no place of a command's text.
  const { words, ...piped } = splitPiped(typed)
  const expanded = expandCommand(words, definitions, workspace)
  // What servers offer is known once they are there.
  const isServers = namesServerPrompt(typed) && expanded !== undefined && 'problem' in expanded
  if (expanded === undefined || isServers) return { prompt: typed }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return { ...expanded, prompt: joinPiped({ words: expanded.prompt, ...piped }) }
}
