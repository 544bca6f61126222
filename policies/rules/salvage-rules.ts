import { RuleEvaluation, type EvaluatedRules } from './evaluate-rules.ts'
import { parseRules } from './rules-grammar.ts'
import { RuleError } from './rule-error.ts'
import type { RuleLayer } from './rule.ts'

/** Matches the beginning of a line on which a statement (a rule or a constant) starts. */
const beginning = /^(?:prefix_rule|network_rule|host_executable)[ \t(]|^[A-Za-z_]\w*[ \t]*\+?=/
/**
 * The maximum length of a file that is salvaged, in characters. Longer files are skipped, and so are files with too many parts, because each part is
 * parsed separately.
 */
const longest = 64 * 1024
const mostParts = 500
/** The maximum number of errors that are reported. */
const mostFaults = 20

/** A rule file that contains an error. */
type BrokenFile = {
  readonly path: string
  readonly layer: RuleLayer
  readonly text: string
  readonly error: RuleError
}

/**
 * Returns those restrictions of a broken rule file that can be understood. Its allow rules are left out, because they may be part of something else, such as
 * a string over several lines.
 *
 * @param tell called with each error that is found, up to `mostFaults`
 */
export function salvageRules(file: BrokenFile, tell: (error: RuleError) => void): EvaluatedRules {
  const { path, layer, text, error: whole } = file
  const evaluation = new RuleEvaluation(path, layer)
  const parts = text.length > longest ? [] : partsOf(text)
  if (parts.length === 0 || parts.length > mostParts) {
    tell(whole)
    return evaluation.result
  }
  let faults = 0
  for (const part of parts) {
    try {
      for (const statement of parseRules(path, part)) evaluation.statement(statement)
    } catch (error) {
      if (!(error instanceof RuleError)) throw error
      if (++faults <= mostFaults) tell(error)
    }
  }
  const { prefixRules, networkRules } = evaluation.result
  return {
    prefixRules: prefixRules.filter(({ decision }) => decision !== 'allow'),
    networkRules: networkRules.filter(({ decision }) => decision !== 'allow'),
    hostExecutables: [],
  }
}

/** Splits a file into parts at its statements. In each part, empty lines replace the text above it, so that positions in the part are positions in the file. */
function partsOf(text: string): readonly string[] {
  const lines = text.split('\n')
  const starts = lines.flatMap((line, at) => (beginning.test(line) ? [at] : []))
  const all = starts[0] === 0 ? starts : [0, ...starts]
  return all.map((start, index) => `${'\n'.repeat(start)}${lines.slice(start, all[index + 1]).join('\n')}`)
}
