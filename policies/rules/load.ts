import { readFileSync } from 'node:fs'
import { evaluateRules } from './evaluate.ts'
import { parseRules } from './grammar.ts'
import { RuleError } from './rule-error.ts'
import { makeRuleSet, type RuleSet } from './rule-set.ts'
import type { RuleLayer } from './rule.ts'

/** A rule file to read. `text` stands for its content where it isn't a file. */
export type RuleFile = { readonly path: string; readonly layer: RuleLayer; readonly text?: string }

const largest = 1024 * 1024

/**
 * Reads rule files (Codex's `.rules`: `prefix_rule`, `host_executable`, `network_rule`, constants) into one set.
 * Anything wrong in any of them, an unreadable file included, throws a `RuleError`: a run with a part of its rules
 * missing would be a run under other rules.
 */
export function loadRules(files: readonly RuleFile[]): RuleSet {
  const all = files.map((file) => {
    const text = file.text ?? readRules(file.path)
    return evaluateRules(file.path, file.layer, parseRules(file.path, text))
  })
  return makeRuleSet(
    all.flatMap(({ prefixRules }) => prefixRules),
    all.flatMap(({ networkRules }) => networkRules),
    all.flatMap(({ hostExecutables }) => hostExecutables),
  )
}

function readRules(path: string): string {
  const start = { line: 1, column: 1 }
  let bytes: Uint8Array
  try {
    bytes = readFileSync(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RuleError(path, start, `the rule file can't be read: ${why}`, 'a readable file', { cause })
  }
  if (bytes.length > largest) throw new RuleError(path, start, 'the rule file is larger than 1 MiB', 'a smaller file')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new RuleError(path, start, 'the rule file is not UTF-8', 'UTF-8 text', { cause })
  }
}
