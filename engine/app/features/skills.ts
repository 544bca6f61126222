import type { Skill } from '../../skills/definition.ts'
import { describeSkills } from '../../skills/skill-list.ts'
import { skillTool } from '../../skills/skill-tool.ts'
import type { Feature } from '../feature.ts'

/** How kinds of work are done here, and commands, which are prompts with blanks; both may narrow what is called while they are followed. */
export const skillsFeature: Feature = {
  name: 'skills',
  open: ({ extensions, services, named }) => {
    const { skills, faults } = extensions.definitions
    const { command } = named ?? {}
    if (command?.allowedTools !== undefined)
      services.hooks?.narrow(command.allowedTools, `The command /${command.name}`)
    const follow = ({ name, allowedTools, path }: Skill): void => {
      if (allowedTools !== undefined) services.hooks?.narrow(allowedTools, `The skill ${name} (${path})`)
    }
    return {
      tools: skills.length === 0 ? [] : [skillTool(skills, follow)],
      context: describeSkills(skills),
      notices: faults,
    }
  },
}
