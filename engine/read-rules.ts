import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defaultRules, loadRules, RuleError, type RuleFile, type RuleSet } from '../policies/index.ts'
import type { Places } from './places.ts'
import { UserError } from './user-error.ts'

/**
 * The rules of a run: ours, the machine's, the user's, and files named on a command line. All count, and the strictest
 * answer wins whosever it is.
 *
 * @param extra paths of further rule files
 * @throws UserError `usage` with `file:line:column` for any error in any file: a run with a part of its rules missing
 *   would be a run under other rules
 */
export function readRules(places: Places, extra: readonly string[] = []): RuleSet {
  const files: readonly RuleFile[] = [
    { path: 'default.rules', layer: 'default', text: defaultRules },
    ...rulesIn(places.managed, 'managed'),
    ...rulesIn(places.config, 'user'),
    ...extra.map((path) => ({ path, layer: 'user' as const })),
  ]
  try {
    return loadRules(files)
  } catch (error) {
    if (!(error instanceof RuleError)) throw error
    throw new UserError('usage', describeRuleError(error), { cause: error })
  }
}

/** A rule error as one line: `file:line:column: what is wrong; what was expected`. */
export function describeRuleError({ path, line, column, message, expected }: RuleError): string {
  return `${path}:${line}:${column}: ${message}; expected ${expected}`
}

function rulesIn(folder: string, layer: RuleFile['layer']): readonly RuleFile[] {
  const directory = join(folder, 'rules')
  const names = existsSync(directory) ? readdirSync(directory) : []
  return names
    .filter((name) => name.endsWith('.rules'))
    .toSorted()
    .map((name) => ({ path: join(directory, name), layer }))
}
