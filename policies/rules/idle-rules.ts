import { joinPermissions } from '../permissions/join.ts'
import type { PermissionSet } from '../permissions/permission.ts'
import type { RuleSet } from './rule-set.ts'
import { describePattern, type PrefixRule } from './rule.ts'

/** A rule that probably doesn't do what it was written for. */
export type IdleRule = { readonly path: string; readonly line: number; readonly message: string }

/** Operators that separate the commands of a line or redirect input or output. Unless they are quoted, they are never words of a command. */
const operator = /^(?:&&|\|\|?&?|;|&|\d*[<>]+&?\d*)$/

/**
 * Finds rules that match no real command, or fewer than intended: a rule whose program name is empty or contains a blank, a rule that begins with an
 * assignment or contains an operator, an allow rule for a program's path that no `host_executable` lists, or a path listed for a program that no rule
 * names. Such rules do no harm, but they don't do what their author expects.
 *
 * @example
 * const rules = loadRules([{ path: 'own.rules', layer: 'user', text: 'prefix_rule(pattern = ["git", "push"], decision = "allow")' }])
 * for (const { path, line, message } of findIdleRules(rules)) console.warn(`${path}:${line}: ${message}`)
 */
export function findIdleRules(given: RuleSet, permissions?: PermissionSet): readonly IdleRule[] {
  const { rules } = joinPermissions(given, permissions)
  const named = new Set(rules.prefixRules.flatMap(({ pattern }) => pattern[0] ?? []))
  return [
    ...rules.prefixRules.flatMap((rule) => {
      const message = faultOf(rule, rules)
      return message === undefined ? [] : [{ path: rule.origin.path, line: rule.origin.line, message }]
    }),
    ...rules.hostExecutables
      .filter(({ name }) => !named.has(name))
      .map(({ name, origin: { path, line } }) => {
        const message = `host_executable ${name}: no rule names ${name}, so these paths have no effect`
        return { path, line, message }
      }),
  ]
}

function faultOf(rule: PrefixRule, rules: RuleSet): string | undefined {
  const shown = describePattern(rule)
  const words = rule.text === undefined ? rule.pattern : [rule.text.split(' ')].flat().map((word) => [word])
  const programs = words[0] ?? []
  const parting = words.slice(1).find((alternatives) => alternatives.every((word) => operator.test(word)))
  if (parting !== undefined) {
    return `${shown}: the commands of a line are judged one by one, so none of them contains the word ${parting[0] ?? ''}; write a rule for each command`
  }
  if (programs.length === 0) return undefined
  if (programs.every((name) => name === '')) return `${shown}: no program has an empty name`
  if (programs.every((name) => /\s/.test(name))) {
    return `${shown}: no program's name contains white space; write each word as a separate string, as in ["git", "push"]`
  }
  if (programs.every((name) => /^\w+=/.test(name))) {
    return `${shown}: assignments do not count as words of a command; begin the pattern with the program`
  }
  const onlyPaths = programs.every((name) => name.includes('/'))
  const registered = programs.some((path) => rules.hostExecutables.some(({ paths }) => paths.includes(path)))
  if (rule.decision === 'allow' && onlyPaths && !registered) {
    const name = programs[0]?.split('/').at(-1) ?? ''
    return `${shown}: allows only commands that are written with exactly this path; to allow ${name} by its name, begin the pattern with "${name}", and list the path with host_executable`
  }
  return undefined
}
