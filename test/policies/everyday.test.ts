import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { checkCommand, defaultRules, loadRules, type ApprovalMode } from '../../policies/index.ts'

const all = readFileSync(new URL('../../fixtures/policies/everyday.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^[rw] /.test(line))
  .map((line) => ({ reads: line.startsWith('r'), command: line.slice(2) }))
const rules = loadRules([{ path: 'default.rules', layer: 'default', text: defaultRules }])

/** The commands that a mode doesn't allow in the sandbox without asking. */
function stopped(approvalMode: ApprovalMode, commands: typeof all): readonly string[] {
  return commands
    .map(({ command }) => command)
    .filter(
      (command) =>
        checkCommand(command, { approvalMode, sandbox: 'workspace-write', cwd: '/repo', rules }).decision !== 'allow',
    )
}

describe('the commands that coding agents run every day', () => {
  test('are many, without duplicates', () => {
    expect(all.length).toBeGreaterThanOrEqual(531)
    expect(new Set(all.map(({ command }) => command)).size).toBe(all.length)
  })

  test.each(['never', 'on-request', 'on-failure'] as const)('are all allowed in the mode %s', (mode) => {
    expect(stopped(mode, all)).toEqual([])
  })

  test('are rarely asked about in untrusted mode if they only read, but always if they do more', () => {
    const reading = all.filter(({ reads }) => reads)
    const asked = stopped('untrusted', reading)
    expect(asked.length, asked.join('\n')).toBeLessThanOrEqual(0.03 * reading.length)
    const changing = all.filter(({ reads }) => !reads).map(({ command }) => command)
    const stops = new Set(stopped('untrusted', all))
    expect(changing.filter((command) => !stops.has(command))).toEqual([])
  })

  test('are as many as the README says', () => {
    const readme = readFileSync(new URL('../../policies/README.md', import.meta.url), 'utf8').replaceAll(/\s+/g, ' ')
    const reading = all.filter(({ reads }) => reads)
    expect(readme).toContain(
      `Of ${all.length} everyday commands, \`never\` refuses none; \`untrusted\` asks about ${stopped('untrusted', reading).length} of the ${reading.length} that only read`,
    )
  })
})

test.each([
  ...['echo "---"', 'git branch --merged main', 'wc -l $(git ls-files)', 'bash -n x.sh', 'ss', 'openssl version'],
  ...['docker ps', 'docker images', 'docker inspect web', 'ls -d .*/', 'i=1; i=$((i+1))'],
  'while IFS= read -r line; do echo "$line"; done < list.txt',
])('%s only reads, and is not asked about', (line) =>
  expect(stopped('untrusted', [{ reads: true, command: line }])).toEqual([]),
)

test.each([
  ...[
    'PYTHONPATH=. pytest',
    'NODE_OPTIONS=--experimental-vm-modules npx jest',
    'CC=clang make',
    'AWS_REGION=x npm test',
  ],
  ...['trap \'rm -f "$t"\' EXIT', 'cp .env.example .env'],
])('%s is left to the sandbox', (line) => expect(stopped('on-request', [{ reads: false, command: line }])).toEqual([]))
