import { defaultRules } from './default-rules.ts'
import { evaluateRules, type EvaluatedRules } from './evaluate-rules.ts'
import { parseRules } from './rules-grammar.ts'

/**
 * Returns the default rules, parsed. The build calls this function and bundles the result, because parsing takes longer than almost anything else in a run.
 *
 * @example const rules = loadRules([shippedRules()])
 */
export function shippedRules(): EvaluatedRules {
  const path = 'default.rules'
  return evaluateRules(path, 'default', parseRules(path, defaultRules))
}
