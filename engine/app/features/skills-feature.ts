import { isInside } from '../../core/directories-between.ts'
import type { Command, Skill } from '../../skills/definition.ts'
import { Preapprovals } from '../../skills/preapprovals.ts'
import { describeSkills } from '../../skills/skill-list.ts'
import { skillTool } from '../../skills/skill-tool.ts'
import type { Feature } from '../feature.ts'

/**
 * Provides skills, which explain how to do a kind of work, and commands, which are prompts with placeholders. Once the model follows a skill or
 * command, calls that its `allowed-tools` cover need no approval in the rest of the run, unless it comes from an untrusted repository, or something
 * other than the approval mode requires approval. If it also has `restrict`, wherever it comes from, the model may then make no other calls.
 */
export const skillsFeature: Feature = {
  name: 'skills',
  open: ({ extensions, services, named, config, project }) => {
    const { skills, faults } = extensions.definitions
    const preapprovals = new Preapprovals()
    const follow = ({ kind, name, allowedTools, restrict, path }: Skill | Command): void => {
      if (allowedTools === undefined) return
      const source = kind === 'skill' ? `The skill ${name} (${path})` : `The command /${name}`
      if (restrict) services.hooks?.narrow(allowedTools, source)
      if (config.trusted || !isInside(path, project.root)) preapprovals.add(allowedTools, source)
    }
    if (named?.followed !== undefined) follow(named.followed)
    return {
      tools: skills.length === 0 ? [] : [skillTool(skills, follow)],
      context: describeSkills(skills),
      notices: faults,
      wrapGuardian: (guardian) => preapprovals.wrapGuardian(guardian),
    }
  },
}
