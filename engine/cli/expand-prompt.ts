import type { Command } from '../skills/definition.ts'
import { expandCommand } from '../skills/expand-command.ts'
import { UserError } from '../user-error.ts'

/**
 * What a prompt stands for: a command's text where it names one as `/name`, else itself.
 *
 * @throws UserError `usage` where it names a command that isn't there
 */
export function expandPrompt(
  typed: string,
  commands: readonly Command[],
): { readonly prompt: string; readonly command: Command | undefined } {
  const expanded = expandCommand(typed, commands)
  if (expanded === undefined) return { prompt: typed, command: undefined }
  if ('problem' in expanded) throw new UserError('usage', expanded.problem)
  return expanded
}
