import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkCommand, loadRules, type CheckOptions } from '../../policies/index.ts'
import { denying } from './decisions.ts'

type Row = {
  readonly command: string | readonly string[]
  /** The setting under which the command was allowed, as a key of `settings`. */
  readonly under: string
  readonly kind: string
  /** The folder in which the command runs, if that matters. */
  readonly cwd?: string
  /** Set if the command is still allowed. */
  readonly open?: true
}

const rows = readFileSync(new URL('../../fixtures/policies/let-through.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

const forbidding = ['["git", "push"]', '["rm", "-rf"]', '["curl"]', '["npm", "publish"]']
  .map((pattern) => `prefix_rule(pattern = ${pattern}, decision = "forbidden")\n`)
  .join('')
const deny = [
  'Read(./vault/**)',
  'Read(./plan.txt)',
  'Read(**/*.sec)',
  'Edit(./keep/**)',
  'Bash(make deploy:*)',
  'Bash(npm run release)',
]

const settings: readonly (readonly [string, CheckOptions])[] = Object.entries<CheckOptions>({
  untrusted: { approvalMode: 'untrusted', sandbox: 'workspace-write' },
  destructive: { approvalMode: 'never', sandbox: 'danger-full-access' },
  rules: {
    approvalMode: 'never',
    sandbox: 'workspace-write',
    rules: loadRules([{ path: 'a.rules', layer: 'user', text: forbidding }]),
  },
  denies: {
    approvalMode: 'on-request',
    sandbox: 'danger-full-access',
    cwd: '/w',
    permissions: denying(deny),
  },
})

describe('harmful commands that were once allowed', () => {
  test.each(settings)('are no longer allowed, except marked ones: %s', (under, options) => {
    const through = rows
      .filter((row) => row.under === under)
      .filter(({ command, cwd }) => {
        const argv = typeof command === 'string' ? ['bash', '-c', command] : command
        return checkCommand(argv, cwd === undefined ? options : { ...options, cwd }).decision === 'allow'
      })
    const open = rows.filter((row) => row.under === under && row.open === true)
    expect(through.map(({ command }) => command)).toEqual(open.map(({ command }) => command))
  })
})
