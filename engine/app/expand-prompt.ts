import { namesServerPrompt } from '../mcp/prompts.ts'
import type { Definitions } from '../skills/definition.ts'
import { joinPiped, splitPiped } from '../run/piped-input.ts'
import { expandCommand, type Expanded } from '../skills/expand-command.ts'
import { UserError } from '../core/user-error.ts'

/** A prompt as given, or the text of the command or skill that it names. */
export type NamedPrompt = Partial<Pick<Expanded, 'followed' | 'looked'>> & { readonly prompt: string }

/**
 * Expands a prompt: the text of the command or skill that it names as `/name`, else the prompt itself. A prompt of an MCP server is left as
 * it is.
 *
 * @throws UserError `usage` if it names one that doesn't exist, or whose text can't be filled in
 */
export function expandPrompt(
  typed: string,
  definitions: Pick<Definitions, 'commands' | 'skills'>,
  workspace: string,
): NamedPrompt {
  // Piped input stays a separate block: it fills no placeholder of a command's text.
  const { words, ...piped } = splitPiped(typed)
  const expanded = expandCommand(words, definitions, workspace)
  // The prompts of servers are known only after the servers have started.
  const isServers = namesServerPrompt(typed) && expanded !== undefined && 'problem' in expanded
  if (expanded === undefined || isServers) return { prompt: typed }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return { ...expanded, prompt: joinPiped({ words: expanded.prompt, ...piped }) }
}
