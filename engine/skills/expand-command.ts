import { nearest } from '../core/text/nearest.ts'
import type { Command, Skill } from './definition.ts'
import { fillTemplate, type Looked } from './fill-template.ts'
import { folderOf } from './find-definitions.ts'

/** The result of expanding a prompt that names a command or a skill. */
export type Expanded = {
  readonly followed: Command | Skill
  readonly prompt: string
  /** The tool calls that run the commands and read the files that the text requests. They are made before the model begins. */
  readonly looked: readonly Looked[]
}

/**
 * Expands a prompt such as `/review src/a.ts` to the text of the command or skill that it names. Other prompts, including those that begin with a
 * path such as `/usr/bin`, stay as they are. If a command and a skill share a name, the command is used.
 *
 * @param workspace the directory that relative paths in the text refer to
 * @returns the definition, its text, and the calls that the text requests; undefined if the prompt doesn't begin with a name; or an error message if
 *   no definition has that name, or its text can't be filled in
 */
export function expandCommand(
  prompt: string,
  { commands, skills }: { readonly commands: readonly Command[]; readonly skills: readonly Skill[] },
  workspace: string,
): Expanded | undefined | { readonly problem: string } {
  const match = /^\/(?<name>[\w.-]+(?::[\w.-]+)*)(?:\s+(?<typed>[^]*))?$/.exec(prompt.trimEnd())
  const name = match?.groups?.['name']
  if (name === undefined) return undefined
  const followed = commands.find((one) => one.name === name) ?? skills.find((one) => one.name === name)
  if (followed !== undefined) {
    const filled = fillTemplate(followed.body, match?.groups?.['typed'] ?? '', workspace)
    if ('problem' in filled) return { problem: `/${name}: ${filled.problem}` }
    const where =
      followed.kind === 'skill' ? `Follow the skill ${name}. Its own files are in ${folderOf(followed)}.\n\n` : ''
    return { followed, ...filled, prompt: `${where}${filled.prompt}` }
  }
  const known = [...new Set([...commands, ...skills].map((one) => one.name))]
  const near = nearest(name, known)
  if (near !== undefined) return { problem: `There is no command or skill /${name}. Did you mean /${near}?` }
  const list = known.length === 0 ? 'there are none' : `there are: ${known.map((one) => `/${one}`).join(', ')}`
  return {
    problem: `There is no command or skill /${name}; ${list}. To send the text as it is, put a space in front of it.`,
  }
}
