import { nearest } from '../core/text/nearest.ts'
import type { Command } from './definition.ts'
import { fillArguments } from './fill-arguments.ts'

/** A prompt that names a command, filled in. */
type Expanded = { readonly command: Command; readonly prompt: string }

/**
 * What a prompt such as `/review src/a.ts` stands for. A prompt that begins otherwise, or with a path, stands for itself.
 *
 * @returns the command and its text, undefined for a prompt that names none, or a sentence where it names one that isn't there
 */
export function expandCommand(
  prompt: string,
  commands: readonly Command[],
): Expanded | undefined | { readonly problem: string } {
  const match = /^\/(?<name>[\w.-]+(?::[\w.-]+)*)(?:\s+(?<typed>[^]*))?$/.exec(prompt.trimEnd())
  const name = match?.groups?.['name']
  if (name === undefined) return undefined
  const command = commands.find((one) => one.name === name)
  if (command !== undefined) return { command, prompt: fillArguments(command.body, match?.groups?.['typed'] ?? '') }
  const known = commands.map((one) => one.name)
  const near = nearest(name, known)
  if (near !== undefined) return { problem: `There is no command /${name}. Did you mean /${near}?` }
  const list = known.length === 0 ? 'there are none' : `there are: ${known.map((one) => `/${one}`).join(', ')}`
  return { problem: `There is no command /${name}; ${list}. To say it as it is, put a space before it.` }
}
