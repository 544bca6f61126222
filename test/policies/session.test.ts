import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkCommand, defaultRules, loadRules, readCommandTable, type ApprovalMode } from '../../policies/index.ts'

const file = 'fixtures/policies/session.txt'
const commands = readCommandTable(file, readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8'))
const rules = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])

/** The session's commands that a mode doesn't allow without asking, in order. */
function askedIn(approvalMode: ApprovalMode): readonly unknown[] {
  return commands
    .map(({ command }) => command)
    .filter(
      (command) =>
        checkCommand(command, { approvalMode, sandbox: 'workspace-write', cwd: '/repo', rules }).decision !== 'allow',
    )
}

/** Commands of the session for which every mode must ask for approval, even the modes that rarely ask. */
const mustAsk = [
  'git reset --hard origin/main',
  'git clean -fdx',
  'git push --force-with-lease origin feature/retry',
  'npm publish',
  'sudo apt-get install -y jq',
]

describe('a session of 200 ordinary commands in the sandbox', () => {
  test.each([
    ['on-request', 8],
    ['on-failure', 8],
    ['never', 6],
  ] as const)('in the mode %s has at most %i questions, the dangerous commands among them', (mode, most) => {
    expect(commands).toHaveLength(200)
    const asked = askedIn(mode)
    expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(most)
    expect(asked).toEqual(expect.arrayContaining(mustAsk))
  })

  test('asks as many questions as the README states', () => {
    const readme = readFileSync(new URL('../../policies/README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
    const [onRequest, never, untrusted] = (['on-request', 'never', 'untrusted'] as const).map(
      (mode) => askedIn(mode).length,
    )
    expect(readme).toContain(
      `\`on-request\` asks about ${onRequest}, \`never\` refuses ${never}, and \`untrusted\` asks about ${untrusted}.`,
    )
  })
})
