import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkCommand } from '../../policies/index.ts'
import { denying } from './decisions.ts'

/** What Claude Code 2.1.197 did with a command and one deny entry, with a scripted model and `--dangerously-skip-permissions`. */
type Row = { readonly deny: string; readonly command: string; readonly refused: boolean }

const rows = readFileSync(new URL('../../fixtures/policies/claude-denies.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Row)

// Whether we allow a command in spite of this deny entry, with the most permissive settings: nobody is asked, and no sandbox enforces the lists.
function weaker({ deny, command }: Row): boolean {
  const permissions = denying([deny])
  const options = { approvalMode: 'bypass', sandbox: 'danger-full-access', cwd: '/w', permissions } as const
  return checkCommand(['/bin/bash', '-c', command], options).decision === 'allow'
}

describe('even in the most permissive modes, a deny entry of Claude Code refuses here what it refuses there', () => {
  test.each([...new Set(rows.map(({ deny }) => deny))])('%s', (deny) => {
    const refused = rows.filter((row) => row.deny === deny && row.refused)
    expect(refused.length).toBeGreaterThan(1)
    expect(refused.filter(weaker)).toEqual([])
  })
})

test('a command that can’t be analysed is refused if it names a denied file, as a word or as the value of an option', () => {
  for (const command of ['git diff --no-index a .env', 'deploy .env', './run --env-file=.env'])
    expect([command, weaker({ deny: 'Read(.env)', command, refused: true })]).toEqual([command, false])
  expect(weaker({ deny: 'Read(.env)', command: 'deploy .env.example', refused: false })).toBe(true)
})
