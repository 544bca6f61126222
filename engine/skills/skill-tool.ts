import * as z from 'zod'
import { nearest } from '../core/text/nearest.ts'
import type { Skill } from './definition.ts'
import { fillArguments } from './fill-arguments.ts'
import { folderOf } from './find-definitions.ts'
import { defineTool } from '../tools/define-tool.ts'
import type { Tool } from '../tools/tool.ts'

/**
 * Creates the tool that shows a skill to the model.
 *
 * @param onUse called when the model asks for a skill, before the model receives its text
 */
export function skillTool(skills: readonly Skill[], onUse: (skill: Skill) => void): Tool {
  return defineTool({
    name: 'skill',
    claudeNames: ['Skill'],
    description:
      'Shows the full text of a skill, which explains how a kind of work is done here. Follow it after reading.',
    input: z.object({
      skill: z.string().min(1).describe("The skill's name, as listed."),
      args: z.string().optional().describe("The skill's arguments, if it takes any."),
    }),
    readOnly: () => true,
    run: ({ skill: name, args }) => {
      const skill = skills.find((one) => one.name === name)
      if (skill === undefined) {
        const known = skills.map((one) => one.name)
        const near = nearest(name, known)
        const hint = near === undefined ? `Available skills: ${known.join(', ')}.` : `Did you mean '${near}'?`
        return Promise.resolve({ ok: false, output: `There is no skill '${name}'. ${hint}` })
      }
      onUse(skill)
      const limits =
        skill.allowedTools === undefined || !skill.restrict
          ? ''
          : `\nFrom now on you may call only these: ${skill.allowedTools.join(', ')}.`
      const output = `The skill's own files are in ${folderOf(skill)}.${limits}\n\n${fillArguments(skill.body, args ?? '')}`
      return Promise.resolve({ ok: true, output })
    },
  })
}
