import type { Skill } from './definition.ts'

/** The limit for all descriptions together: they are in every request. */
const maxCharacters = 8000

/** What the model is told about the available skills: their names and descriptions. One text, or none where there is no skill. */
export function describeSkills(skills: readonly Skill[]): readonly string[] {
  if (skills.length === 0) return []
  const share = Math.max(40, Math.floor(maxCharacters / skills.length))
  const lines = skills.map(({ name, description }) => {
    const line = `- ${name}: ${description.replaceAll(/\s+/g, ' ')}`
    return line.length <= share ? line : `${line.slice(0, share - 1)}…`
  })
  const intro =
    'Skills say how a kind of work is done here. When a task is of that kind, call the tool `skill` with the name first.'
  return [`<skills>\n${intro}\n${lines.join('\n')}\n</skills>`]
}
