import type { Skill } from './definition.ts'

/**
 * The maximum length of the list of skills, in characters. It is limited because every request contains the list. A list of many skills may be
 * longer, because each skill gets at least 40 characters.
 */
const maxCharacters = 8000

/** Describes the available skills to the model: their names and descriptions in one text. Returns no text if there is no skill. */
export function describeSkills(skills: readonly Skill[]): readonly string[] {
  if (skills.length === 0) return []
  const share = Math.max(40, Math.floor(maxCharacters / skills.length))
  const lines = skills.map(({ name, description }) => {
    const line = `- ${name}: ${description.replaceAll(/\s+/g, ' ')}`
    return line.length <= share ? line : `${line.slice(0, share - 1)}…`
  })
  const intro =
    'A skill explains how a kind of work is done here. When a task is of that kind, first call the tool `skill` with its name.'
  return [`<skills>\n${intro}\n${lines.join('\n')}\n</skills>`]
}
