import { defaultRules } from './default-rules.ts'
import { evaluateRules, type EvaluatedRules } from './evaluate-rules.ts'
import { parseRules } from './rules-grammar.ts'

/**
 * The default rules, parsed. The build calls this and bundles the result, since parsing takes a run longer than almost anything else.
 *
 * @example const rules = loadRules([shippedRules()])
 */
export function shippedRules(): EvaluatedRules {
  const path = 'default.rules'
  return evaluateRules(path, 'default', parseRules(path, defaultRules))
}
