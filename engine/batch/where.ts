import { UserError } from '../core/user-error.ts'
import { nearest } from '../core/text/nearest.ts'
import type { SettledRecord } from './folder/records.ts'
import { outcomes } from './outcome.ts'

const fields = ['outcome', 'model', 'task'] as const

/**
 * Parses a condition on trials, such as `outcome=provider`, `model=gpt-5.5` or `task=one`. If there are several conditions, separated by commas, all must be
 * met. If there are several values, separated by `|`, one must match.
 *
 * @throws UserError `usage` for a condition in another form, an unknown field or an unknown outcome
 */
export function parseWhere(text: string): (settled: SettledRecord) => boolean {
  const conditions = text.split(',').map((part) => {
    const at = part.indexOf('=')
    const field = fields.find((name) => name === part.slice(0, at).trim())
    if (at < 0 || field === undefined) {
      throw new UserError(
        'usage',
        `--where '${part}': expected FIELD=VALUE with one of the fields ${fields.join(', ')}.`,
      )
    }
    const values = part
      .slice(at + 1)
      .split('|')
      .map((value) => value.trim())
    if (field === 'outcome') for (const value of values) requireOutcome(value)
    return { field, values }
  })
  return (settled) => conditions.every(({ field, values }) => values.includes(settled[field] ?? ''))
}

function requireOutcome(value: string): void {
  if ((outcomes as readonly string[]).includes(value)) return
  const near = nearest(value, outcomes)
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`
  throw new UserError('usage', `--where: '${value}' is not an outcome; the outcomes are ${outcomes.join(', ')}.${hint}`)
}
