import { defaultRules } from './default-rules.ts'
import { evaluateRules, type EvaluatedRules } from './evaluate-rules.ts'
import { parseRules } from './rules-grammar.ts'

/**
 * The rules that hold where nobody wrote any, as read. The build calls this and bundles what it gives, since a run would take longer to read them than for most else.
 *
 * @example const rules = loadRules([shippedRules()])
 */
export function shippedRules(): EvaluatedRules {
  const path = 'default.rules'
  return evaluateRules(path, 'default', parseRules(path, defaultRules))
}
