import type { Action } from '../action.ts'
import { analyseCommand } from '../commands/analyse.ts'
import { staticText } from '../commands/shell-word.ts'

/** Programs that can do anything: a standing permission to start them would be one for everything. */
const tooBroad =
  /^(?:sudo|doas|su|env|bash|sh|dash|zsh|fish|ksh|python[0-9.]*|node|deno|bun|ruby|perl|php|lua|osascript|xargs|find|ssh|docker|podman|kubectl|eval|exec|command|npx|awk|sed|tar|make|rm|curl|wget|nohup|timeout|nice|time|busybox)$/

/**
 * The rule that would spare asking for a command again, in the format of a rule file, or undefined where none should:
 * the command isn't a single one, isn't fully known, leaves the sandbox, or a rule for it would allow far more.
 */
export function proposeRule(action: Action): string | undefined {
  if (action.type !== 'exec' || action.escalation !== undefined) return undefined
  const analysis = analyseCommand(action.argv)
  if (analysis.problems.length > 0 || analysis.evaluations.length > 0) return undefined
  // A shell around the command is no command of its own.
  const commands = analysis.commands.filter(({ facts, around }) => facts.length + around.length > 0)
  const [command] = commands
  if (
    commands.length !== 1 ||
    command === undefined ||
    analysis.commands.some(({ around, alarms }) => around.length + alarms.length > 0)
  )
    return undefined
  const words = command.words.map((word) => staticText(word))
  const known = words.flatMap((word) => (word === undefined ? [] : [word]))
  const [program = '', second] = known
  if (known.length < words.length || program.includes('/')) return undefined
  const isSubcommand = second !== undefined && /^[a-z][a-z0-9:-]*$/.test(second)
  if (tooBroad.test(program)) return undefined
  if (/^(?:git|npm|pnpm|yarn|cargo|go|gh|pip3?|uv|poetry|bundle|dotnet)$/.test(program) && !isSubcommand)
    return undefined
  // `npm run` alone would allow every script of the project.
  const length = isSubcommand ? (/^(?:run|exec)$/.test(second) ? 3 : 2) : known.length
  const pattern = known.slice(0, length)
  if (isSubcommand && pattern.length < length) return undefined
  return `prefix_rule(pattern = [${pattern.map((word) => JSON.stringify(word)).join(', ')}], decision = "allow")`
}
