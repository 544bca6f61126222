import { namesServerPrompt } from '../mcp/prompts.ts'
import type { Definitions } from '../skills/definition.ts'
import { joinPiped, splitPiped } from '../run/piped-input.ts'
import { expandCommand, type Expanded } from '../skills/expand-command.ts'
import { UserError } from '../core/user-error.ts'

/** A prompt as the user gave it, or the text of the command or skill that it names. */
export type NamedPrompt = Partial<Pick<Expanded, 'followed' | 'looked'>> & { readonly prompt: string }

/**
 * Expands a prompt: the result is the text of the command or skill that the prompt names as `/name`, else the prompt itself. A prompt that
 * can't be expanded but may name a prompt of an MCP server is not changed.
 *
 * @throws UserError `usage` if the named command or skill doesn't exist, or its text can't be filled in
 */
export function expandPrompt(
  typed: string,
  definitions: Pick<Definitions, 'commands' | 'skills'>,
  workspace: string,
): NamedPrompt {
  // Piped input remains a separate block and doesn't fill a placeholder in a command's text.
  const { words, ...piped } = splitPiped(typed)
  const expanded = expandCommand(words, definitions, workspace)
  // The prompt may name a prompt of an MCP server, which is known only after the servers have started.
  const isServers = namesServerPrompt(typed) && expanded !== undefined && 'problem' in expanded
  if (expanded === undefined || isServers) return { prompt: typed }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return { ...expanded, prompt: joinPiped({ words: expanded.prompt, ...piped }) }
}
