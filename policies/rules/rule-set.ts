import { indexRules, type ProgramRules } from './rule-index.ts'
import type { HostExecutable, NetworkRule, PrefixRule } from './rule.ts'

/** All rules of a run, from every layer. */
export type RuleSet = {
  readonly prefixRules: readonly PrefixRule[]
  readonly networkRules: readonly NetworkRule[]
  readonly hostExecutables: readonly HostExecutable[]
  /** The prefix rules, keyed by the lower-case names of their programs. */
  readonly byProgram: ReadonlyMap<string, ProgramRules>
  /** The index of each prefix rule in `prefixRules`. */
  readonly places: ReadonlyMap<PrefixRule, number>
  /** The prefix rules that name no program. */
  readonly forAnyProgram: readonly PrefixRule[]
  /** The prefix rules that prompt or forbid. */
  readonly restricting: readonly PrefixRule[]
  /**
   * The restricting rules that somebody wrote for this machine or project. A command that can't be analysed may contain a command that such a rule
   * names.
   */
  readonly concealing: readonly PrefixRule[]
}

/** Combines rules and indexes them by program, so that a large number of rules doesn't slow down the judging of a command. */
export function makeRuleSet(
  prefixRules: readonly PrefixRule[],
  networkRules: readonly NetworkRule[] = [],
  hostExecutables: readonly HostExecutable[] = [],
): RuleSet {
  const byProgram = new Map<string, PrefixRule[]>()
  for (const rule of prefixRules) {
    for (const program of new Set(rule.pattern[0]?.map(programKey))) {
      const filed = byProgram.get(program)
      if (filed === undefined) byProgram.set(program, [rule])
      else filed.push(rule)
    }
  }
  const forAnyProgram = prefixRules.filter(({ pattern }) => pattern.length === 0)
  const restricting = prefixRules.filter(({ decision }) => decision !== 'allow')
  const concealing = restricting.filter(({ origin }) => origin.layer !== 'default')
  return {
    prefixRules,
    networkRules,
    hostExecutables,
    byProgram: new Map([...byProgram].map(([program, rules]) => [program, indexRules(rules, program)])),
    places: new Map(prefixRules.map((rule, place) => [rule, place])),
    forAnyProgram,
    restricting,
    concealing,
  }
}

/** Returns a set of rules to which the prefix rules and network rules of another set are added. */
export function addRules(rules: RuleSet, added: RuleSet): RuleSet {
  return makeRuleSet(
    [...rules.prefixRules, ...added.prefixRules],
    [...rules.networkRules, ...added.networkRules],
    rules.hostExecutables,
  )
}

/** The key of a program in the index: its name without folders, and in lower case because some systems ignore case. */
export function programKey(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1).toLowerCase()
}

/** The empty set of rules. */
export const noRules: RuleSet = makeRuleSet([])
