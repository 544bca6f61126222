import { readFile } from '../read-file.ts'
import { evaluateRules, type EvaluatedRules } from './evaluate-rules.ts'
import { parseRules } from './rules-grammar.ts'
import { RuleError } from './rule-error.ts'
import { makeRuleSet, type RuleSet } from './rule-set.ts'
import { describePattern, type RuleLayer, type RuleOrigin } from './rule.ts'
import { salvageRules } from './salvage-rules.ts'

/** A rule file. If `text` is given, it is the content, and no file is read. */
export type RuleFile = {
  readonly path: string
  readonly layer: RuleLayer
  readonly text?: string
  /**
   * Called with each error in the file, instead of throwing it. The remaining restrictions in the file still apply. Absent: the first error is
   * thrown.
   */
  readonly tolerate?: (error: RuleError) => void
}

const largest = 1024 * 1024

/**
 * Reads rule files (Codex's `.rules`: `prefix_rule`, `host_executable`, `network_rule`, constants) into one set. Any error in any of them throws a
 * `RuleError`, even if a file merely can't be read: a run without some of its rules could do what these rules forbid. Only errors in the text of a
 * file with `tolerate` are not thrown. Rules that have already been read are used unchanged.
 *
 * @example
 * const rules = loadRules([{ path: 'own.rules', layer: 'user', text: 'prefix_rule(pattern = ["git", "push"], decision = "allow")' }])
 * const { decision } = checkCommand('git push', { approvalMode: 'untrusted', sandbox: 'read-only', rules })
 */
export function loadRules(files: readonly (RuleFile | EvaluatedRules)[]): RuleSet {
  const all = files.map((file) => {
    if ('prefixRules' in file) return file
    const text = file.text ?? readRules(file.path)
    try {
      return evaluateRules(file.path, file.layer, parseRules(file.path, text))
    } catch (error) {
      if (!(error instanceof RuleError) || file.tolerate === undefined) throw error
      return salvageRules({ path: file.path, layer: file.layer, text, error }, file.tolerate)
    }
  })
  return makeRuleSet(
    all.flatMap(({ prefixRules }) => prefixRules),
    all.flatMap(({ networkRules }) => networkRules),
    all.flatMap(({ hostExecutables }) => hostExecutables),
  )
}

/**
 * Removes allow rules whose source may only deny and ask. The `host_executable` statements of such a source are removed too, because they could make
 * the allow rules of others apply to the source's own files. Returns the rules that remain (`kept`) and a description of each removed
 * rule with its origin (`dropped`).
 *
 * @param only tells whether the rules of a source may only deny and ask
 * @example
 * const rules = loadRules([{ path: 'own.rules', layer: 'user', text: 'prefix_rule(pattern = ["git", "push"], decision = "allow")' }])
 * const { kept, dropped } = withoutAllowingRules(rules, () => true)
 */
export function withoutAllowingRules(
  set: RuleSet,
  only: (origin: RuleOrigin) => boolean,
): { readonly kept: RuleSet; readonly dropped: readonly { readonly origin: RuleOrigin; readonly text: string }[] } {
  const widens = (rule: { readonly decision?: string; readonly origin: RuleOrigin }): boolean =>
    only(rule.origin) && (rule.decision === undefined || rule.decision === 'allow')
  const narrows = (rule: Parameters<typeof widens>[0]): boolean => !widens(rule)
  const dropped = [
    ...set.prefixRules.filter(widens).map((rule) => ({ rule, text: describePattern(rule) })),
    ...set.networkRules.filter(widens).map((rule) => ({ rule, text: `network_rule ${rule.host}` })),
    ...set.hostExecutables.filter(widens).map((rule) => ({ rule, text: `host_executable ${rule.name}` })),
  ]
  return {
    kept: makeRuleSet(
      set.prefixRules.filter(narrows),
      set.networkRules.filter(narrows),
      set.hostExecutables.filter(narrows),
    ),
    dropped: dropped.map(({ rule, text }) => ({ origin: rule.origin, text })),
  }
}

function readRules(path: string): string {
  const start = { line: 1, column: 1 }
  let bytes: Uint8Array
  try {
    bytes = readFile(path, largest)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RuleError(path, start, `the rule file can't be read: ${why}`, 'a readable file', { cause })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RuleError(path, start, 'the rule file is not UTF-8', 'UTF-8 text', { cause })
  }
}
