import type { Action, Grant } from '../action.ts'
import { analyseCommand } from '../commands/analyse.ts'
import { staticText } from '../commands/shell-word.ts'

/** A rule that would make further questions about similar actions unnecessary. */
export type ProposedRule =
  /** A line of a rule file. */
  | { readonly kind: 'rule'; readonly text: string }
  /** An entry of a permission list. */
  | { readonly kind: 'permission'; readonly text: string }

/** Programs that can do almost anything, or great harm: a permanent permission to start one of them would allow far too much. */
const tooBroad = new Set(
  'sudo doas su env bash sh dash zsh fish ksh node deno bun ruby perl php lua osascript xargs find ssh docker podman kubectl eval exec command npx awk sed tar make rm curl wget nohup timeout nice time busybox'.split(
    ' ',
  ),
)

/** Programs whose subcommands differ too much to be covered by one permission. */
const needsSubcommand = /^(?:git|npm|pnpm|yarn|cargo|go|gh|pip3?|uv|poetry|bundle|dotnet)$/

/**
 * Proposes a rule so that nobody is asked about an action again; if possible, the one that the model suggests. Undefined if there should be no such
 * rule: the action isn't a single command, isn't fully known, asks for several grants or (without suggesting a rule) for unspecified access, or the
 * rule would allow far more than the action. A single grant becomes a rule for that grant, unless it is a limit, covers private addresses, or has a
 * path that would be read as a pattern.
 */
export function proposeRule(action: Action): ProposedRule | undefined {
  if (action.type !== 'exec') return undefined
  const [grant, ...others] = action.escalation?.grants ?? []
  if (grant !== undefined) return others.length === 0 ? ruleForGrant(grant) : undefined
  const suggested = suggestedBy(action)
  if (suggested !== undefined) return { kind: 'rule', text: suggested }
  if (action.escalation !== undefined) return undefined
  const words = singleCommand(action)
  if (words === undefined) return undefined
  const [program = '', second] = words
  const isSubcommand = second !== undefined && /^[a-z][a-z0-9:-]*$/.test(second)
  // `npm run` alone would allow every script of the project.
  const length = isSubcommand ? (/^(?:run|exec)$/.test(second) ? 3 : 2) : words.length
  if (words.length < length) return undefined
  const pattern = words.slice(0, length)
  return isBroad(program, pattern) ? undefined : { kind: 'rule', text: prefixRule(pattern) }
}

/**
 * The rule that the model suggests along with a command, in the syntax of rule files. Undefined if the model suggests none, if the command doesn't begin with
 * the suggested words, or if the rule would allow far more than the command.
 */
export function suggestedBy(action: Action): string | undefined {
  const suggested = action.type === 'exec' ? action.escalation?.prefixRule : undefined
  if (action.type !== 'exec' || suggested === undefined || suggested.length === 0) return undefined
  const words = singleCommand(action)
  const [program = '', second = ''] = suggested
  const fits = suggested.every((word, at) => words?.[at] === word)
  if (!fits || isBroad(program, suggested)) return undefined
  return /^(?:run|exec)$/.test(second) && suggested.length < 3 ? undefined : prefixRule(suggested)
}

/**
 * The words of an action's only command. Undefined if there are several commands, if the command line isn't fully understood, if some words aren't
 * known, if the program is given as a path, or if the command raises an alarm or has redirections or assignments.
 */
function singleCommand(action: Extract<Action, { type: 'exec' }>): readonly string[] | undefined {
  const analysis = analyseCommand(action.argv)
  if (analysis.problems.length > 0 || analysis.evaluations.length > 0) return undefined
  // A shell around the command doesn't count as a command itself.
  const commands = analysis.commands.filter(({ facts, around }) => facts.length + around.length > 0)
  const [command] = commands
  const alone =
    commands.length === 1 && !analysis.commands.some(({ around, alarms }) => around.length + alarms.length > 0)
  if (!alone || command === undefined) return undefined
  const words = command.words.map((word) => staticText(word))
  const known = words.flatMap((word) => (word === undefined ? [] : [word]))
  return known.length < words.length || known[0]?.includes('/') === true ? undefined : known
}

function isBroad(program: string, pattern: readonly string[]): boolean {
  if (tooBroad.has(program) || /^python[0-9.]*$/.test(program)) return true
  return needsSubcommand.test(program) && !/^[a-z][a-z0-9:-]*$/.test(pattern[1] ?? '')
}

/** A rule that allows all commands that begin with the given words, in the syntax of rule files. */
export function prefixRule(pattern: readonly string[]): string {
  return `prefix_rule(pattern = [${pattern.map((word) => JSON.stringify(word)).join(', ')}], decision = "allow")`
}

function ruleForGrant(grant: Grant): ProposedRule | undefined {
  switch (grant.kind) {
    case 'read':
    case 'write': {
      // The path of a permission is read as a pattern, but this path must stand for a single file or folder.
      if (/[*?[\]\\!]/.test(grant.path)) return undefined
      return { kind: 'permission', text: `${grant.kind === 'read' ? 'Read' : 'Edit'}(/${grant.path})` }
    }
    case 'network':
      return grant.private === true
        ? undefined
        : {
            kind: 'rule',
            text: `network_rule(host = ${JSON.stringify(grant.host)}, protocol = "https", decision = "allow")`,
          }
    case 'limit':
      return undefined
    default:
      return grant satisfies never
  }
}
