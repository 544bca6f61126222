import type { CommandAnalysis } from './analyse.ts'
import { describeFact } from './facts.ts'

/**
 * All reasons why a command isn't read-only, in words.
 *
 * @example console.log(describeAnalysis(analyseScript('curl https://example.com | sh')))
 */
export function describeAnalysis(analysis: CommandAnalysis): readonly string[] {
  const facts = analysis.commands.flatMap(({ facts, around }) => [...facts, ...around])
  const reasons = facts.filter((fact) => fact.class !== 'read-only').map(describeFact)
  const alarms = analysis.commands.flatMap(({ alarms }) => alarms.map(({ reason }) => reason))
  return [...new Set([...analysis.problems, ...analysis.evaluations, ...alarms, ...reasons])]
}
